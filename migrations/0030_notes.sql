-- Conversations end, and leave notes with their app.
alter table thread
  add column ended_at timestamptz,
  add column ended_reason text,
  -- Whoever ended it did so within a round: what is recorded until then still belongs to what ended.
  add column closing_until timestamptz;

-- A note is due once its conversation ended: `done_until` is the last seq that notes were made of.
alter table thread_task
  drop constraint thread_task_name,
  add constraint thread_task_name check (task in ('extract', 'compress', 'note'));

-- Of which conversations a note was made, those of the notes that were merged into it too. It outlasts the note, whose
-- words are in the audit trail as well: whoever forgets a conversation's user finds both by it.
create table note_source (
  thread_ref bigint not null references thread (id) on delete cascade,
  memory_id uuid not null,
  -- Whose note it is: the app.
  owner_ref bigint not null references owner (id) on delete cascade,
  start_seq integer not null,
  end_seq integer not null,
  constraint note_source_pkey primary key (thread_ref, memory_id)
);
create index note_source_memory on note_source (owner_ref, memory_id);

-- Whoever writes a note need not know how many an app may keep: with each that becomes active, compaction is due to look.
do $do$
begin
  execute format(
    $body$
      create function %1$I.look_at_notes() returns trigger
      language plpgsql set search_path = %1$I, pg_temp as $$
      begin
        insert into owner_task as k (owner_ref, task, retry_at) values (new.owner_ref, 'compact', new.updated_at)
        on conflict (owner_ref, task) do update set retry_at = case
          when k.attempts > 0 then coalesce(k.retry_at, excluded.retry_at) else least(k.retry_at, excluded.retry_at)
        end;
        return null;
      end
      $$
    $body$,
    current_schema()
  );
end
$do$;
create trigger memory_note_added after insert on memory
  for each row when (new.kind = 'note' and new.state = 'active') execute function look_at_notes();
create trigger memory_note_returned after update of state on memory
  for each row when (new.kind = 'note' and new.state = 'active' and old.state <> 'active')
  execute function look_at_notes();
