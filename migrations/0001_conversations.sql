-- The baseline, first part: what is installed, owners, conversations. The files 0001_* run in the order of their names, and
-- share one version and one digest (`meta.baseline`). They may change until the first release; then only new files follow.
--
-- `mnemograph` stands for the schema's name, which replaces it. A statement ends with a semicolon before a line that is not
-- indented.
--
-- A scope column is '' where the scope has no such id, so equality is enough and unique indexes need no rule for null. An id
-- may be longer than an index entry: indexes contain its digest, and each statement compares the id itself as well.

-- The digest of an id in an index. SHA-256, because two ids with the same MD5 can be made: nobody can choose an id that
-- collides with another. `sha256` takes bytes; a doubled backslash is a backslash and not an escape.
create function mnemograph.id_digest(id text) returns bytea
  language sql immutable parallel safe
  return sha256(replace(id, '\', '\\')::bytea);

-- What is installed, in one row. It belongs to no owner: forgetting, export and row-level security skip it.
create table mnemograph.meta (
  only_row boolean default true constraint meta_pkey primary key constraint meta_only_row check (only_row),
  -- The digest of the files 0001_* that made the schema. A package with other files refuses it.
  baseline text not null,
  -- The last migration of each set; null: the set is not installed.
  version integer not null,
  vector_version integer,
  isolation_version integer,
  functions_version integer not null,
  -- Packages that know the schema from this version on work on it.
  compatible_from integer not null,
  -- The text search configuration of the two word tables.
  language text not null
);

-- Owners of memories: a user of a tenant, or an app where there is no user. Each change of a memory updates its owner in the
-- same transaction, so the owner's lock orders changes. Forgetting deletes the owner and all rows that refer to it.
create table mnemograph.owner (
  id bigint generated always as identity constraint owner_pkey primary key,
  tenant_id text not null,
  user_id text not null,
  app_id text not null,
  -- Counts changes of memories.
  revision bigint not null default 0,
  -- Changes up to this revision are no longer in change_log.
  changes_trimmed_to bigint not null default 0,
  turns bigint not null default 0,
  -- Sizes of the two word tables, for the length norm and the rarity of words in BM25.
  memory_count bigint not null default 0,
  memory_length bigint not null default 0,
  message_count bigint not null default 0,
  message_length bigint not null default 0,
  constraint owner_is_one check ((user_id = '') <> (app_id = ''))
);
create unique index owner_identity on mnemograph.owner (
  mnemograph.id_digest(tenant_id), mnemograph.id_digest(user_id), mnemograph.id_digest(app_id)
);

-- For operators' searches by a beginning; longer ids have no room in an entry.
create index owner_user on mnemograph.owner ((left(lower(user_id), 200)) collate "C") where user_id <> '';
create index owner_app on mnemograph.owner ((left(lower(app_id), 200)) collate "C") where app_id <> '';

-- Conversations. Each belongs to the scope that used it first. Forgetting its user or its app deletes it.
create table mnemograph.thread (
  id bigint generated always as identity constraint thread_pkey primary key,
  tenant_id text not null,
  thread_id text not null,
  user_id text not null,
  app_id text not null,
  owner_ref bigint constraint thread_owner_ref_fkey references mnemograph.owner (id),
  -- The thread id in LangGraph's checkpoint tables, which have no tenants: the first tenant to use an id keeps it, threads of
  -- other tenants get another name. Null until the first access to its checkpoints.
  checkpoint_name text,
  -- The owner's revision up to which the thread was notified of changes.
  rev_seen bigint not null default 0,
  turns integer not null default 0,
  created_at timestamptz not null default now(),
  last_activity_at timestamptz not null default now(),
  ended_at timestamptz,
  ended_reason text,
  -- Set when it ended within a turn: messages recorded until then belong to the ended conversation.
  closing_until timestamptz,
  constraint thread_has_owner check (user_id <> '' or app_id <> '')
);
create unique index thread_identity on mnemograph.thread (mnemograph.id_digest(tenant_id), mnemograph.id_digest(thread_id));
create index thread_owner on mnemograph.thread (
  mnemograph.id_digest(tenant_id), mnemograph.id_digest(user_id), last_activity_at desc
);
create index thread_app on mnemograph.thread (
  mnemograph.id_digest(tenant_id), mnemograph.id_digest(app_id), last_activity_at desc
);
-- From the ids of LangGraph's checkpoints to the threads that use them.
create index thread_checkpoint on mnemograph.thread (mnemograph.id_digest(thread_id));
create index thread_owner_ref on mnemograph.thread (owner_ref);
-- The latest conversations, and whose they are: of all tenants, of one, and of apps.
create index thread_latest on mnemograph.thread (last_activity_at desc, owner_ref desc);
create index thread_latest_of_tenant on mnemograph.thread (
  mnemograph.id_digest(tenant_id), last_activity_at desc, owner_ref desc
);
create index thread_latest_of_apps on mnemograph.thread (last_activity_at desc, owner_ref desc) where user_id = '';

-- The transcript: every message once, in order. Deleted with its thread.
create table mnemograph.message (
  thread_ref bigint not null constraint message_thread_ref_fkey references mnemograph.thread (id) on delete cascade,
  seq integer not null constraint message_seq_range check (seq >= 0),
  message_id text not null,
  role text not null constraint message_role check (role in ('user', 'assistant', 'system', 'tool', 'other')),
  actor text,
  agent_id text,
  run_id text,
  content text not null,
  -- LangChain's stored form. Text and not jsonb: jsonb refuses the NUL characters that tool output can contain.
  serialised text not null,
  said_at timestamptz not null default now(),
  -- Where it was said: its name in the IANA list. The day of a message is the user's day.
  time_zone text not null default 'UTC',
  created_at timestamptz not null default now(),
  -- A checksum of its words: other words under the same id are an edit. Null: unknown.
  words_check integer,
  -- Counts edits, from 1. A branch that lacks the message that was last when it was edited still has the words of before.
  version integer not null default 1,
  earlier_checks integer[] not null default '{}',
  edited_at_seq integer,
  -- A checksum of what a run made of it in the graph's state: that is no edit.
  state_check integer,
  -- Whether redaction or a file made it differ from what was said.
  altered boolean not null default false,
  constraint message_pkey primary key (thread_ref, seq)
);
create unique index message_identity on mnemograph.message (thread_ref, message_id);
create index message_turn on mnemograph.message (thread_ref, seq) where role = 'user';

-- The words of messages by users and assistants, for BM25. Deleted with their message, and with its owner. Byte order ("C")
-- compares faster, and an update of the system's locales cannot put the index out of order.
create table mnemograph.message_term (
  owner_ref bigint not null constraint message_term_owner_ref_fkey references mnemograph.owner (id) on delete cascade,
  lexeme text collate "C" not null,
  thread_ref bigint not null,
  seq integer not null,
  frequency smallint not null,
  length integer not null,
  constraint message_term_pkey primary key (owner_ref, lexeme, thread_ref, seq) include (frequency, length),
  constraint message_term_message foreign key (thread_ref, seq) references mnemograph.message (thread_ref, seq) on delete cascade
);
create index message_term_thread on mnemograph.message_term (thread_ref, seq);

-- Versions of a conversation's summary, chained by base_id. Deleted with their thread.
create table mnemograph.summary (
  id bigint generated always as identity constraint summary_pkey primary key,
  thread_ref bigint not null constraint summary_thread_ref_fkey references mnemograph.thread (id) on delete cascade,
  start_seq integer not null,
  end_seq integer not null,
  -- The turns that it covers.
  start_turn integer,
  end_turn integer,
  base_id bigint constraint summary_base_id_fkey references mnemograph.summary (id) on delete set null,
  status text not null constraint summary_status check (status in ('processing', 'completed', 'failed')),
  content text,
  generation_time_ms integer,
  created_at timestamptz not null default now(),
  constraint summary_window check (0 <= start_seq and start_seq <= end_seq),
  constraint summary_has_content check (status <> 'completed' or btrim(content) <> '')
);
-- Decides which of several processes makes the next summary of a thread.
create unique index summary_processing on mnemograph.summary (thread_ref) where status = 'processing';
create index summary_latest on mnemograph.summary (thread_ref, status, end_seq desc);
create index summary_base on mnemograph.summary (base_id);

-- What each turn was shown of memory: ids, and words only in `told`. Deleted with its thread.
create table mnemograph.shown (
  thread_ref bigint not null constraint shown_thread_ref_fkey references mnemograph.thread (id) on delete cascade,
  -- The message that the turn answered.
  seq integer not null,
  turn integer not null,
  -- The owner's revision at that time.
  revision bigint not null,
  memory_ids uuid[] not null,
  -- For each memory: its part of the memory block, and its score if it was a search hit.
  parts text[] not null,
  scores real[],
  -- For each hit: what each signal adds to its score, such as {"words": 0.2}; signals of 0 are left out. Null for other memories.
  score_parts jsonb,
  -- A checksum of each memory's words, of 15 bits: it shows that they changed, and reveals none of them.
  checks smallint[],
  summary_id bigint,
  -- How many memories were over budget.
  omitted integer not null,
  -- Of the turn that opens an epoch: the first message that is shown word for word. Null while the epoch continues. The
  -- prompt only grows within an epoch: the block of its first turn stays, and each turn adds to it.
  first_seq integer,
  -- Which categories were readable: agents with other allowlists have their own epochs.
  reader integer,
  -- What the turn was told beside memories, by reference: changes, requests for consent, unread messages; and the day that
  -- its prompt names. Null if nothing.
  news jsonb,
  -- The words of `news` when the turn was told them. Erased with the memory, request or message that they are from.
  told jsonb,
  -- How the prompt was printed, for a replay: its form, places of its messages, and checksums of 8 and 15 bits. No words.
  handed jsonb,
  -- How long the recall took; null for memories that were recalled elsewhere.
  recall_ms real,
  created_at timestamptz not null,
  constraint shown_pkey primary key (thread_ref, seq),
  constraint shown_has_parts check (cardinality(memory_ids) = cardinality(parts))
);
-- Forgetting looks for words in few rows.
create index shown_told on mnemograph.shown (thread_ref) where told is not null;
