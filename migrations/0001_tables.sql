-- All tables, with their indexes. `mnemograph` is the schema's name: another one is put in its place before this runs.
--
-- Scope columns hold '' where a scope has no such id (blank ids are refused): equality is enough, and unique indexes need no
-- rules for null. Ids may be longer than an index entry, so indexes hold their digest, and every statement compares the
-- columns themselves as well. One statement ends with a semicolon before a line that is not indented.

-- The digest that indexes hold of an id: two ids that share it cannot be made, as they can of md5's, so nobody can choose an
-- id that collides with another's. `sha256` takes bytes; a doubled backslash is read as itself and not as an escape.
create function mnemograph.id_digest(id text) returns bytea
  language sql immutable parallel safe
  return sha256(replace(id, '\', '\\')::bytea);

-- What is installed. One row. Nobody's: forgetting, export and row-level security pass it over.
create table mnemograph.meta (
  only_row boolean default true constraint meta_pkey primary key constraint meta_only_row check (only_row),
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

-- Whose memories: a user of a tenant, or an app where there is no user. Each change of a memory updates it in the same
-- transaction, and so its lock puts changes in order. Forgetting deletes it, and with it all that names it.
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

-- Conversations, each of the scope that used it first. Forgetting its user or its app deletes it.
create table mnemograph.thread (
  id bigint generated always as identity constraint thread_pkey primary key,
  tenant_id text not null,
  thread_id text not null,
  user_id text not null,
  app_id text not null,
  owner_ref bigint constraint thread_owner_ref_fkey references mnemograph.owner (id),
  -- The thread id of its LangGraph checkpoints, whose tables know no tenant: the first to use an id keeps it, the threads of
  -- other tenants get a name of their own. Null until its checkpoints are asked for.
  checkpoint_name text,
  -- The owner's revision up to which the thread was notified of changes.
  rev_seen bigint not null default 0,
  turns integer not null default 0,
  created_at timestamptz not null default now(),
  last_activity_at timestamptz not null default now(),
  ended_at timestamptz,
  ended_reason text,
  -- It ended within a turn: what is recorded until then belongs to the ended conversation.
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

-- The transcript: every message once, in order. Goes with its thread.
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
  created_at timestamptz not null default now(),
  constraint message_pkey primary key (thread_ref, seq)
);
create unique index message_identity on mnemograph.message (thread_ref, message_id);
create index message_turn on mnemograph.message (thread_ref, seq) where role = 'user';

-- The words of messages by users and assistants, for BM25. Go with their message, and with its owner. Words are looked up and
-- not sorted for people: byte order compares faster, and no update of the system's locales can put the index out of order.
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

-- Versions of a conversation's summary, chained by base_id. Go with their thread.
create table mnemograph.summary (
  id bigint generated always as identity constraint summary_pkey primary key,
  thread_ref bigint not null constraint summary_thread_ref_fkey references mnemograph.thread (id) on delete cascade,
  start_seq integer not null,
  end_seq integer not null,
  -- The turns that it covers, counted when it was made.
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

-- What each turn was shown of memory, by ids: no words, so nothing forgotten stays in it. Goes with its thread.
create table mnemograph.shown (
  thread_ref bigint not null constraint shown_thread_ref_fkey references mnemograph.thread (id) on delete cascade,
  -- The message that the turn answered.
  seq integer not null,
  turn integer not null,
  -- The owner's revision at that time.
  revision bigint not null,
  memory_ids uuid[] not null,
  -- For each: its part of the memory block, and its score where it was a search hit.
  parts text[] not null,
  scores real[],
  summary_id bigint,
  -- How many memories were over budget.
  omitted integer not null,
  -- How long the recall took; null for memories that were recalled elsewhere.
  recall_ms real,
  created_at timestamptz not null,
  constraint shown_pkey primary key (thread_ref, seq),
  constraint shown_has_parts check (cardinality(memory_ids) = cardinality(parts))
);

-- Memories: facts, episodes, notes, insights, procedures. Go with their owner.
create table mnemograph.memory (
  -- Short, for indexes and joins; `id` is the public one.
  ref bigint generated always as identity constraint memory_pkey primary key,
  id uuid not null constraint memory_id unique,
  owner_ref bigint not null constraint memory_owner_ref_fkey references mnemograph.owner (id) on delete cascade,
  tenant_id text not null,
  user_id text not null,
  app_id text not null,
  kind text not null constraint memory_kind check (kind in ('fact', 'episode', 'note', 'insight', 'procedure')),
  category text not null,
  -- A slot's name, and its value; null for a statement of its own.
  key text,
  value text,
  content text not null constraint memory_has_content check (btrim(content) <> ''),
  content_hash text not null,
  importance real not null constraint memory_importance check (importance between 1 and 5),
  confidence real not null constraint memory_confidence check (confidence between 0 and 1),
  pinned boolean not null default false,
  state text not null default 'active'
    constraint memory_state check (state in ('active', 'superseded', 'merged', 'soft_deleted', 'quarantined')),
  origin text not null default 'unknown' constraint memory_origin
    check (origin in ('user', 'assistant', 'tool', 'document', 'worker', 'operator', 'import', 'unknown')),
  trust text not null default 'untrusted'
    constraint memory_trust check (trust in ('operator', 'user', 'agent', 'untrusted')),
  tags text[] not null default '{}',
  metadata jsonb not null default '{}' constraint memory_metadata check (jsonb_typeof(metadata) = 'object'),
  agent_id text,
  run_id text,
  actor_id text,
  role text,
  -- Where it was learned: a thread, the messages' seqs in ascending order, and a quote. An app's memory names no user's thread.
  thread_ref bigint constraint memory_thread_ref_fkey references mnemograph.thread (id) on delete set null,
  source_seqs integer[] not null default '{}',
  evidence text,
  -- The thread's turns that an episode covers.
  turn_start integer,
  turn_end integer,
  -- When it was last asserted, and in which of its owner's turns: confidence halves with the turns since.
  asserted_at timestamptz,
  asserted_turn bigint not null default 0,
  -- When it is true.
  valid_from timestamptz not null default now(),
  valid_to timestamptz constraint memory_interval check (valid_to >= valid_from),
  superseded_by uuid,
  seen_count integer not null default 1,
  access_count integer not null default 0,
  last_accessed_at timestamptz not null default now(),
  accessed_on date generated always as ((last_accessed_at at time zone 'UTC')::date) stored not null,
  expires_at timestamptz,
  purge_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  revision bigint not null default 1
);
-- One active value a slot, one active statement with the same words.
create unique index memory_slot on mnemograph.memory (owner_ref, mnemograph.id_digest(app_id), category, key)
  where state = 'active' and key is not null;
create unique index memory_content on mnemograph.memory (owner_ref, mnemograph.id_digest(app_id), kind, content_hash)
  where state = 'active';
create unique index memory_quarantine on mnemograph.memory (owner_ref, mnemograph.id_digest(app_id), kind, content_hash)
  where state = 'quarantined';
create unique index memory_episode on mnemograph.memory (thread_ref, turn_start) where kind = 'episode' and state = 'active';
create index memory_slot_past on mnemograph.memory (owner_ref, mnemograph.id_digest(app_id), category, key, valid_from)
  where state = 'superseded' and key is not null;
create index memory_list on mnemograph.memory (owner_ref, ref desc);
create index memory_time on mnemograph.memory (owner_ref, valid_from);
create index memory_thread on mnemograph.memory (thread_ref) where thread_ref is not null;
create index memory_note on mnemograph.memory (owner_ref, updated_at desc) where state = 'active' and kind = 'note';
-- What a turn is shown whatever is asked: the most important statements of each category, and of all. The rank is one
-- expression, so that no planner takes one index for the other.
create index memory_profile on mnemograph.memory (owner_ref, category, importance desc, updated_at desc, ref)
  where state = 'active' and kind in ('fact', 'insight') and key is null;
create index memory_rank on mnemograph.memory (owner_ref, (importance + 10 * pinned::integer) desc, updated_at desc, ref)
  where state = 'active';
create index memory_aging on mnemograph.memory (importance, accessed_on)
  where state = 'active' and not pinned and kind in ('fact', 'insight', 'episode');
create index memory_expiry on mnemograph.memory (expires_at) where state = 'active' and expires_at is not null;
create index memory_purge on mnemograph.memory (purge_at) where state = 'soft_deleted';

-- The words of active memories, for BM25. Go with their memory.
create table mnemograph.memory_term (
  owner_ref bigint not null,
  lexeme text collate "C" not null,
  memory_ref bigint not null constraint memory_term_memory_ref_fkey references mnemograph.memory (ref) on delete cascade,
  frequency smallint not null,
  length integer not null,
  constraint memory_term_pkey primary key (owner_ref, lexeme, memory_ref) include (frequency, length)
);
create index memory_term_memory on mnemograph.memory_term (memory_ref);

-- From a message to the memories that were learned from it. Go with their memory, and with the thread.
create table mnemograph.memory_source (
  thread_ref bigint not null constraint memory_source_thread_ref_fkey references mnemograph.thread (id) on delete cascade,
  seq integer not null,
  memory_ref bigint not null constraint memory_source_memory_ref_fkey references mnemograph.memory (ref) on delete cascade,
  constraint memory_source_pkey primary key (thread_ref, seq, memory_ref)
);
create index memory_source_memory on mnemograph.memory_source (memory_ref);

-- Links between memories. Go with either.
create table mnemograph.relation (
  from_ref bigint not null constraint relation_from_ref_fkey references mnemograph.memory (ref) on delete cascade,
  to_ref bigint not null constraint relation_to_ref_fkey references mnemograph.memory (ref) on delete cascade,
  relation_type text not null default 'related_to',
  strength real not null,
  created_at timestamptz not null default now(),
  constraint relation_pkey primary key (from_ref, to_ref, relation_type),
  constraint relation_no_self check (from_ref <> to_ref)
);
create index relation_to on mnemograph.relation (to_ref);

-- The conversations that a note was made from, those of notes merged into it too. It outlasts the note, whose words are in the
-- audit trail as well: forgetting a conversation's user finds both by it. Goes with its thread, or with the app.
create table mnemograph.note_source (
  thread_ref bigint not null constraint note_source_thread_ref_fkey references mnemograph.thread (id) on delete cascade,
  memory_id uuid not null,
  -- The app that the note belongs to.
  owner_ref bigint not null constraint note_source_owner_ref_fkey references mnemograph.owner (id) on delete cascade,
  start_seq integer not null,
  end_seq integer not null,
  constraint note_source_pkey primary key (thread_ref, memory_id)
);
create index note_source_memory on mnemograph.note_source (owner_ref, memory_id);

-- One line for each change, for the header that notifies agents. Goes with its owner; maintenance trims it.
create table mnemograph.change_log (
  owner_ref bigint not null constraint change_log_owner_ref_fkey references mnemograph.owner (id) on delete cascade,
  rev bigint not null,
  app_id text not null default '',
  memory_id uuid not null,
  event text not null constraint change_log_event
    check (event in ('created', 'updated', 'merged', 'deleted', 'soft_deleted', 'restored')),
  category text not null,
  line text not null,
  importance real not null,
  created_at timestamptz not null default now(),
  constraint change_log_pkey primary key (owner_ref, rev)
);
create index change_log_memory on mnemograph.change_log (memory_id);
create index change_log_age on mnemograph.change_log using brin (created_at) with (pages_per_range = 16, autosummarize = on);

-- The audit trail, append-only: each change with the fields before and after. Outlasts the memory; goes with its owner.
create table mnemograph.history (
  id bigint generated always as identity constraint history_pkey primary key,
  owner_ref bigint not null constraint history_owner_ref_fkey references mnemograph.owner (id) on delete cascade,
  -- The memory's app, '' for none: forgetting a user within one app finds the entries of memories that are gone.
  app_id text not null default '',
  memory_id uuid not null,
  event text not null constraint history_event
    check (event in ('ADD', 'UPDATE', 'DELETE', 'MERGE', 'LINK', 'TTL', 'RESTORE', 'CONSENT')),
  old jsonb,
  new jsonb,
  actor text,
  rev bigint,
  memory_revision bigint,
  created_at timestamptz not null default now()
);
create index history_memory on mnemograph.history (memory_id, created_at desc);
create index history_owner on mnemograph.history (owner_ref, created_at desc);
create index history_export on mnemograph.history (owner_ref, id);

-- Changes that wait for the user's consent, or for a second signal. Go with their owner.
create table mnemograph.consent_request (
  ref bigint generated always as identity constraint consent_request_pkey primary key,
  id uuid not null constraint consent_request_id unique,
  owner_ref bigint not null constraint consent_request_owner_ref_fkey references mnemograph.owner (id) on delete cascade,
  tenant_id text not null,
  user_id text not null,
  app_id text not null,
  rule text not null constraint consent_request_rule check (rule in ('consent', 'signals')),
  category text not null,
  key text,
  -- Its subject: the slot, or the statement itself where there is none.
  slot text not null,
  -- The value, normalised: the same value in other letters is the same proposal.
  normal_value text not null,
  content_hash text not null,
  -- The memory as it would be written.
  draft jsonb not null,
  evidence jsonb,
  -- Where it was said, each place once: what makes two of them independent.
  signals jsonb not null default '[]',
  seen_count integer not null default 1,
  proposed_by text not null,
  status text not null default 'pending'
    constraint consent_request_status check (status in ('pending', 'approved', 'refused', 'superseded', 'expired')),
  decided_at timestamptz,
  decided_by text,
  decided_via text,
  -- The memory that was written.
  memory_id uuid,
  -- Nobody is asked before.
  ask_at timestamptz not null default now(),
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  revision bigint not null default 1,
  constraint consent_request_decided check ((status = 'pending') = (decided_at is null))
);
-- Decides which of several proposals for a slot is the pending one.
create unique index consent_request_pending
  on mnemograph.consent_request (owner_ref, mnemograph.id_digest(app_id), category, slot) where status = 'pending';
create index consent_request_slot on mnemograph.consent_request (owner_ref, category, decided_at)
  where status in ('pending', 'refused');
create index consent_request_list on mnemograph.consent_request (owner_ref, ref desc);
create index consent_request_due on mnemograph.consent_request (expires_at) where status = 'pending';

-- Background work: what is due, which worker has it, how far it has come. One row for each kind of each thread or owner; goes with
-- them. `retry_at` says when it is due. A worker takes it until `lease_until`, and `lease` fences it: a worker whose lease ran out
-- has a lower number than the one that took over. A piece that was given up (`given_up_at`) stays as a row of its own, for
-- people to look at, and the work goes on after it.
create table mnemograph.work (
  id bigint generated always as identity constraint work_pkey primary key,
  -- The word of `status`, `jobs`, queues and flags: "facts", "notes".
  kind text not null,
  thread_ref bigint constraint work_thread_ref_fkey references mnemograph.thread (id) on delete cascade,
  owner_ref bigint constraint work_owner_ref_fkey references mnemograph.owner (id) on delete cascade,
  -- Done up to here: a seq for summaries, facts and notes, a turn for episodes, a revision for an owner's work. Of a piece that was
  -- given up: where it began.
  done_until bigint not null,
  done_at timestamptz,
  -- How far the piece under way has come, as its kind writes it; of one that was given up, where it ended.
  progress jsonb,
  attempts integer not null default 0,
  lease bigint not null default 0,
  lease_until timestamptz,
  retry_at timestamptz,
  error text,
  -- The model's answer that was no answer, of a piece that was given up.
  output text,
  given_up_at timestamptz,
  constraint work_whose check (num_nonnulls(thread_ref, owner_ref) = 1)
);
create unique index work_of_thread on mnemograph.work (thread_ref, kind) where given_up_at is null;
create unique index work_of_owner on mnemograph.work (owner_ref, kind) where given_up_at is null;
create index work_due on mnemograph.work (kind, (coalesce(lease_until, retry_at))) where given_up_at is null;
create index work_given_up on mnemograph.work (given_up_at) where given_up_at is not null;
create index work_given_up_thread on mnemograph.work (thread_ref) where given_up_at is not null;
create index work_given_up_owner on mnemograph.work (owner_ref) where given_up_at is not null;

-- Pairs of memories that a model has compared, by the digest of both texts; maintenance deletes them after 14 days. Go with
-- their owner.
create table mnemograph.compared_pair (
  owner_ref bigint not null constraint compared_pair_owner_ref_fkey references mnemograph.owner (id) on delete cascade,
  fingerprint text not null,
  verdict text not null
    constraint compared_pair_verdict check (verdict in ('same', 'updates', 'contradicts', 'related', 'unrelated')),
  compared_at timestamptz not null default now(),
  constraint compared_pair_pkey primary key (owner_ref, fingerprint)
);
create index compared_pair_age on mnemograph.compared_pair (compared_at);

-- What happened, without words, for counts and statistics. Forgetting deletes a scope's events but its tombstone; maintenance
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

-- Each call of a model for background work: its tokens, and the units of energy that it cost. Forgetting deletes a scope's;
-- maintenance deletes all after 90 days.
create table mnemograph.usage (
  id uuid not null constraint usage_pkey primary key,
  tenant_id text not null,
  user_id text not null,
  app_id text not null,
  thread_id text,
  kind text not null constraint usage_kind check (
    kind in ('summary', 'facts', 'episode', 'procedure', 'note', 'compaction', 'insights', 'consolidation')
  ),
  input_tokens integer not null,
  output_tokens integer not null,
  units double precision not null,
  created_at timestamptz not null
);
create index usage_owner on mnemograph.usage (mnemograph.id_digest(tenant_id), mnemograph.id_digest(user_id), created_at);
create index usage_tenant on mnemograph.usage (mnemograph.id_digest(tenant_id), created_at);
create index usage_time on mnemograph.usage (created_at);

-- Items of LangGraph's store. Forgetting deletes a scope's; maintenance deletes what has expired.
create table mnemograph.store_item (
  ref bigint generated always as identity constraint store_item_pkey primary key,
  tenant_id text not null,
  user_id text not null,
  app_id text not null,
  namespace text[] collate "C" not null,
  -- The namespace as one text, to search by prefix.
  path text collate "C" not null,
  key text not null,
  value jsonb not null,
  -- The fields that are indexed, and their words.
  index_fields text[],
  words tsvector,
  revision bigint not null default 1,
  ttl_minutes double precision,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  place bytea not null generated always as (
    sha256(mnemograph.id_digest(tenant_id) || mnemograph.id_digest(user_id) || mnemograph.id_digest(app_id))
  ) stored,
  item bytea not null generated always as (sha256(mnemograph.id_digest(path) || mnemograph.id_digest(key))) stored,
  path_head text collate "C" not null generated always as (left(path, 200)) stored
);
create unique index store_item_name on mnemograph.store_item (place, item);
create index store_item_path on mnemograph.store_item (place, path_head);
-- Ids of any length, and as many entries of one id as there are.
create index store_item_user on mnemograph.store_item using spgist (user_id) where user_id <> '';
create index store_item_app on mnemograph.store_item using spgist (app_id) where app_id <> '';
create index store_item_expiry on mnemograph.store_item (expires_at) where expires_at is not null;
