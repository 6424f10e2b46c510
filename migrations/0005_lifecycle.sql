-- What ageing, purging and counting events look things up by.

-- Access times change with every round; an index on them would make each of those updates rewrite every index entry
-- of the row. The day changes once a day.
alter table memory
  add column accessed_on date not null generated always as ((last_accessed_at at time zone 'UTC')::date) stored;

-- Importance first: unimportant memories leave this index by ageing, important ones would only pile up in it.
create index memory_aging on memory (importance, accessed_on)
  where state = 'active' and not pinned and kind in ('fact', 'insight', 'episode');
create index memory_purge on memory (purge_at) where state = 'soft_deleted';

-- A purged memory's words leave the news as well.
create index change_log_memory on change_log (memory_id);

-- The step that wrote an event; `node` is the part of the system it belongs to. Earlier events have the step there.
alter table event add column step text;
create index event_time on event (created_at);
