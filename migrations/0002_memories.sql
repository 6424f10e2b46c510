-- Durable memories, their lexical index, their links, and the record of every change to them.

-- Whose memories: a user of a tenant, or an app where there is no user. The counters are taken in the
-- transaction of every change, which this row's lock puts in order.
create table owner (
  id bigint generated always as identity primary key,
  tenant_id text not null,
  user_id text not null,
  app_id text not null,
  revision bigint not null default 0,
  turns bigint not null default 0,
  -- Sizes of the two lexical indexes, for the length norm and rarity of BM25.
  memory_count bigint not null default 0,
  memory_length bigint not null default 0,
  message_count bigint not null default 0,
  message_length bigint not null default 0,
  constraint owner_is_one check ((user_id = '') <> (app_id = ''))
);
create unique index owner_identity on owner (md5(tenant_id), md5(user_id), md5(app_id));

create table memory (
  -- Short, for indexes and joins; `id` is what the world sees.
  ref bigint generated always as identity primary key,
  id uuid not null constraint memory_id unique,
  owner_ref bigint not null references owner (id) on delete cascade,
  tenant_id text not null,
  user_id text not null,
  app_id text not null,
  kind text not null constraint memory_kind check (kind in ('fact', 'episode', 'note', 'insight', 'procedure')),
  category text not null,
  key text,
  value text,
  content text not null constraint memory_has_content check (btrim(content) <> ''),
  content_hash text not null,
  importance real not null constraint memory_importance check (importance between 1 and 5),
  confidence real not null constraint memory_confidence check (confidence between 0 and 1),
  pinned boolean not null default false,
  state text not null default 'active'
    constraint memory_state check (state in ('active', 'superseded', 'merged', 'soft_deleted')),
  tags text[] not null default '{}',
  agent_id text,
  run_id text,
  actor_id text,
  role text,
  thread_ref bigint references thread (id) on delete set null,
  -- Messages of `thread_ref` this was learned from, ascending.
  source_seqs integer[] not null default '{}',
  evidence text,
  turn_start integer,
  turn_end integer,
  -- The owner's turn at which this was last said: confidence fades with the turns since.
  asserted_turn bigint not null default 0,
  valid_from timestamptz not null default now(),
  valid_to timestamptz,
  superseded_by uuid,
  seen_count integer not null default 1,
  access_count integer not null default 0,
  last_accessed_at timestamptz not null default now(),
  purge_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index memory_slot on memory (owner_ref, md5(app_id), category, key)
  where state = 'active' and key is not null;
create unique index memory_content on memory (owner_ref, md5(app_id), kind, content_hash) where state = 'active';
create index memory_category on memory (owner_ref, kind, category) where state = 'active';
create index memory_list on memory (owner_ref, ref desc);
create index memory_source on memory (thread_ref) where thread_ref is not null;
create unique index memory_episode on memory (thread_ref, turn_start) where kind = 'episode' and state = 'active';

-- Lexical index of active memories, in the order in which a query reads it.
create table memory_term (
  owner_ref bigint not null,
  lexeme text not null,
  memory_ref bigint not null references memory (ref) on delete cascade,
  frequency smallint not null,
  length integer not null,
  constraint memory_term_pkey primary key (owner_ref, lexeme, memory_ref) include (frequency, length)
);
create index memory_term_memory on memory_term (memory_ref);

-- Lexical index of what users and assistants said.
create table message_term (
  owner_ref bigint not null references owner (id) on delete cascade,
  lexeme text not null,
  thread_ref bigint not null,
  seq integer not null,
  frequency smallint not null,
  length integer not null,
  constraint message_term_pkey primary key (owner_ref, lexeme, thread_ref, seq) include (frequency, length),
  constraint message_term_message foreign key (thread_ref, seq) references message (thread_ref, seq) on delete cascade
);
create index message_term_thread on message_term (thread_ref, seq);

alter table thread add column owner_ref bigint references owner (id);
alter table thread add column rev_seen bigint not null default 0;
alter table message add column said_at timestamptz not null default now();
create index message_round on message (thread_ref, seq) where role = 'user';

create table relation (
  from_ref bigint not null references memory (ref) on delete cascade,
  to_ref bigint not null references memory (ref) on delete cascade,
  relation_type text not null default 'related_to',
  strength real not null,
  created_at timestamptz not null default now(),
  constraint relation_pkey primary key (from_ref, to_ref, relation_type),
  constraint relation_no_self check (from_ref <> to_ref)
);
create index relation_to on relation (to_ref);

-- One line for each change, for the header that tells agents what is new.
create table change_log (
  owner_ref bigint not null references owner (id) on delete cascade,
  rev bigint not null,
  memory_id uuid not null,
  event text not null constraint change_log_event
    check (event in ('created', 'updated', 'merged', 'deleted', 'soft_deleted', 'restored')),
  category text not null,
  line text not null,
  importance real not null,
  created_at timestamptz not null default now(),
  constraint change_log_pkey primary key (owner_ref, rev)
);

-- Audit trail; append-only.
create table history (
  id bigint generated always as identity primary key,
  owner_ref bigint not null references owner (id) on delete cascade,
  memory_id uuid not null,
  event text not null constraint history_event
    check (event in ('ADD', 'UPDATE', 'DELETE', 'MERGE', 'LINK', 'TTL', 'RESTORE', 'CONSENT')),
  old jsonb,
  new jsonb,
  actor text,
  rev bigint,
  created_at timestamptz not null default now()
);
create index history_memory on history (memory_id, created_at desc);
create index history_owner on history (owner_ref, created_at desc);

alter table event add column memory_id uuid;
alter table event add column category text;
alter table event add column similarity real;

-- How far background work on a thread has come, and who is at it. Nothing is due twice, nothing is forgotten.
create table thread_task (
  thread_ref bigint not null references thread (id) on delete cascade,
  task text not null constraint thread_task_name check (task in ('extract', 'compress')),
  -- extract: last seq whose facts were extracted. compress: last turn that an episode holds.
  done_until integer not null,
  lease_until timestamptz,
  attempts integer not null default 0,
  retry_at timestamptz,
  error text,
  constraint thread_task_pkey primary key (thread_ref, task)
);
create index thread_task_due on thread_task (task, retry_at, lease_until);

-- Model output that could not be used after every attempt; kept for people to look at.
create table dead_letter (
  id bigint generated always as identity primary key,
  thread_ref bigint not null references thread (id) on delete cascade,
  task text not null,
  start_seq integer not null,
  end_seq integer not null,
  output text,
  error text not null,
  created_at timestamptz not null default now()
);
create index dead_letter_thread on dead_letter (thread_ref);
