-- What is known of a user, whatever is asked: of each category the most important statements. And all that is active:
-- what is pinned, then the most important. That is one expression, so that no planner takes this index for the other.
drop index memory_profile;
create index memory_profile on memory (owner_ref, category, importance desc, updated_at desc, ref)
  where state = 'active' and kind in ('fact', 'insight') and key is null;
create index memory_rank on memory (owner_ref, (importance + 10 * pinned::integer) desc, updated_at desc, ref)
  where state = 'active';

-- What each turn was shown, by ids: what is forgotten is in none of them. One row a turn.
create table shown (
  thread_ref bigint not null references thread (id) on delete cascade,
  -- The message that the turn answered.
  seq integer not null,
  turn integer not null,
  -- Of its owner's memories.
  revision bigint not null,
  memory_ids uuid[] not null,
  -- The part of the memory block that each of them stood in.
  parts text[] not null,
  summary_id bigint,
  left_out integer not null,
  -- The memory block itself, where it is asked for.
  content text,
  created_at timestamptz not null,
  constraint shown_pkey primary key (thread_ref, seq),
  constraint shown_has_parts check (cardinality(memory_ids) = cardinality(parts))
);
-- For what is erased: no text of it may stay.
create index shown_content on shown using gin (memory_ids) where content is not null;

-- Of a recall: how many memories were known and not shown.
alter table event add column left_out integer;
