-- How far background work on all that is kept of a user or an app has come, and who is at it: as `thread_task` of a thread.
create table owner_task (
  owner_ref bigint not null references owner (id) on delete cascade,
  task text not null constraint owner_task_name check (task in ('compact', 'insights', 'consolidate')),
  -- What `owner.tick` was when the last piece of work began that was completed: what changed later was not looked at.
  done_until bigint not null default 0,
  -- When that was completed.
  done_at timestamptz,
  -- How far the piece of work in hand has come, as its kind writes it: a worker that takes over goes on there.
  progress jsonb,
  lease_until timestamptz,
  attempts integer not null default 0,
  retry_at timestamptz,
  error text,
  constraint owner_task_pkey primary key (owner_ref, task)
);
create index owner_task_due on owner_task (task, retry_at, lease_until);

-- Of a thread's work, or of an owner's.
alter table dead_letter
  alter column thread_ref drop not null,
  alter column start_seq drop not null,
  alter column end_seq drop not null,
  add column owner_ref bigint references owner (id) on delete cascade,
  add constraint dead_letter_work check (num_nonnulls(thread_ref, owner_ref) = 1 and num_nonnulls(thread_ref, start_seq, end_seq) in (0, 3));
create index dead_letter_owner on dead_letter (owner_ref) where owner_ref is not null;
