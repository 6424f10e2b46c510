-- The baseline, third part: background work, events and the usage of models.

-- Background work: what is due, its worker and its progress. One row for each kind of each thread or owner; deleted with them.
-- `retry_at` says when it is due. A worker leases it until `lease_until`. `lease` is the fencing token: a worker whose lease
-- expired has a lower number than its successor. A piece that was given up (`given_up_at`) stays as a row of its own for
-- operators, and the work continues after it.
create table mnemograph.work (
  id bigint generated always as identity constraint work_pkey primary key,
  -- As in `status`, `jobs`, queues and flags: "facts", "notes".
  kind text not null,
  thread_ref bigint constraint work_thread_ref_fkey references mnemograph.thread (id) on delete cascade,
  owner_ref bigint constraint work_owner_ref_fkey references mnemograph.owner (id) on delete cascade,
  -- Done up to here: a seq for summaries, facts and notes, a turn for episodes, a revision for an owner's work. The start of a
  -- piece that was given up.
  done_until bigint not null,
  done_at timestamptz,
  -- The progress of the current piece, in the form of its kind; the end of a piece that was given up.
  progress jsonb,
  attempts integer not null default 0,
  lease bigint not null default 0,
  lease_until timestamptz,
  -- The process that leases it, as "host:pid", and since when: for operators. Valid only while `lease_until` is set.
  worker text,
  taken_at timestamptz,
  retry_at timestamptz,
  -- Since when unfinished work has been due: its age, which a failed or deferred try keeps.
  due_since timestamptz,
  error text,
  -- What the model answered, or its provider said, at the last try that failed: redacted, for operators.
  output text,
  given_up_at timestamptz,
  constraint work_whose check (num_nonnulls(thread_ref, owner_ref) = 1)
);
create unique index work_of_thread on mnemograph.work (thread_ref, kind) where given_up_at is null;
create unique index work_of_owner on mnemograph.work (owner_ref, kind) where given_up_at is null;
create index work_due on mnemograph.work (kind, (coalesce(lease_until, retry_at))) where given_up_at is null;
-- For operators' lists: few rows wait, run or failed.
create index work_listed on mnemograph.work (id) where retry_at is not null or lease_until is not null or error is not null;
create index work_given_up on mnemograph.work (given_up_at) where given_up_at is not null;
create index work_given_up_thread on mnemograph.work (thread_ref) where given_up_at is not null;
create index work_given_up_owner on mnemograph.work (owner_ref) where given_up_at is not null;

-- Events without words, for counts and statistics. Forgetting deletes a scope's events except its tombstone; maintenance
-- deletes all after 90 days.
create table mnemograph.event (
  id bigint generated always as identity constraint event_pkey primary key,
  tenant_id text not null,
  user_id text not null,
  app_id text not null,
  thread_id text,
  node text not null,
  op text not null,
  status text not null constraint event_status check (status in ('ok', 'error', 'skipped')),
  step text,
  agent_id text,
  run_id text,
  memory_id uuid,
  category text,
  similarity real,
  detail text,
  created_at timestamptz not null default now()
);
create index event_owner on mnemograph.event (
  mnemograph.id_digest(tenant_id), mnemograph.id_digest(user_id), created_at desc
);
create index event_node on mnemograph.event (node, op, created_at desc);
create index event_time on mnemograph.event (created_at);

-- Each call of a model for background work: its tokens and its units of energy. Forgetting deletes those of a scope;
-- maintenance deletes all after 90 days.
create table mnemograph.usage (
  id uuid not null constraint usage_pkey primary key,
  tenant_id text not null,
  user_id text not null,
  app_id text not null,
  thread_id text,
  kind text not null constraint usage_kind check (
    kind in ('summaries', 'facts', 'episodes', 'procedure', 'notes', 'compaction', 'insights', 'consolidation')
  ),
  input_tokens integer not null,
  output_tokens integer not null,
  units double precision not null,
  created_at timestamptz not null
);
create index usage_owner on mnemograph.usage (mnemograph.id_digest(tenant_id), mnemograph.id_digest(user_id), created_at);
create index usage_tenant on mnemograph.usage (mnemograph.id_digest(tenant_id), created_at);
create index usage_time on mnemograph.usage (created_at);

-- Erasures of users and apps, for receipts. No content, and of the erased id nothing but an HMAC under a key that is in no
-- table. Each row survives the erasure that it records. `sha256` is the digest of the finished record; `previous` is that of
-- the record before it in the tenant, '' for the first: a changed or missing record breaks the chain.
create table mnemograph.erasure (
  id uuid not null constraint erasure_pkey primary key,
  tenant_id text not null,
  kind text not null constraint erasure_kind check (kind in ('user', 'user_in_app', 'app')),
  actor text not null,
  -- The id that the deleted row of `owner` had: a number that is never given again.
  owner_was bigint,
  id_hmac text,
  -- Rows by table.
  rows_before jsonb not null,
  rows_after jsonb,
  began_at timestamptz not null,
  ended_at timestamptz,
  previous text,
  sha256 text
);
create unique index erasure_chain on mnemograph.erasure (mnemograph.id_digest(tenant_id), previous) where previous is not null;
create index erasure_latest on mnemograph.erasure (mnemograph.id_digest(tenant_id), began_at desc);
create index erasure_time on mnemograph.erasure (began_at desc);
