-- Threads, their transcripts and their summaries.
--
-- Scope columns hold '' where a scope has no such id (blank ids are refused), so that equality is enough and
-- unique indexes need no NULL rules. Ids may be longer than an index entry: indexes hold their md5, and every
-- statement compares the columns themselves as well.

create table thread (
  id bigint generated always as identity primary key,
  tenant_id text not null,
  thread_id text not null,
  user_id text not null,
  app_id text not null,
  created_at timestamptz not null default now(),
  last_activity_at timestamptz not null default now(),
  constraint thread_has_owner check (user_id <> '' or app_id <> '')
);
create unique index thread_identity on thread (md5(tenant_id), md5(thread_id));
create index thread_owner on thread (md5(tenant_id), md5(user_id), last_activity_at desc);
create index thread_app on thread (md5(tenant_id), md5(app_id), last_activity_at desc);

create table message (
  thread_ref bigint not null references thread (id) on delete cascade,
  seq integer not null constraint message_seq_range check (seq >= 0),
  message_id text not null,
  role text not null constraint message_role check (role in ('user', 'assistant', 'system', 'tool', 'other')),
  actor text,
  content text not null,
  -- Text and not jsonb: jsonb refuses the NUL characters that tool output can contain.
  serialised text not null,
  created_at timestamptz not null default now(),
  constraint message_pkey primary key (thread_ref, seq)
);
create unique index message_identity on message (thread_ref, message_id);

create table summary (
  id bigint generated always as identity primary key,
  thread_ref bigint not null references thread (id) on delete cascade,
  start_seq integer not null,
  end_seq integer not null,
  base_id bigint references summary (id) on delete set null,
  status text not null constraint summary_status check (status in ('processing', 'completed', 'failed')),
  content text,
  generation_time_ms integer,
  attempts integer not null default 1,
  lease_until timestamptz,
  retry_at timestamptz,
  error text,
  rolled_back_at timestamptz,
  created_at timestamptz not null default now(),
  constraint summary_window check (0 <= start_seq and start_seq <= end_seq),
  constraint summary_has_content check (status <> 'completed' or btrim(content) <> ''),
  constraint summary_has_lease check (status <> 'processing' or lease_until is not null)
);
-- Decides which of several processes makes the next summary of a thread.
create unique index summary_processing on summary (thread_ref) where status = 'processing';
create index summary_latest on summary (thread_ref, status, end_seq desc);
create index summary_base on summary (base_id);
create index summary_due on summary (retry_at, lease_until) where status in ('processing', 'failed');

create table event (
  id bigint generated always as identity primary key,
  tenant_id text not null,
  user_id text not null,
  app_id text not null,
  thread_id text,
  node text not null,
  op text not null,
  status text not null constraint event_status check (status in ('ok', 'error', 'skipped')),
  detail text,
  created_at timestamptz not null default now()
);
create index event_owner on event (md5(tenant_id), md5(user_id), created_at desc);
create index event_node on event (node, op, created_at desc);
