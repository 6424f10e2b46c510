-- The baseline, second part: memories with their history and requests for consent, and the items of LangGraph's store.

-- Memories: facts, episodes, notes, insights, procedures. Deleted with their owner.
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
  -- The slot and its value; null for a memory without a slot.
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
  -- Its source: a thread, the seqs of the messages in ascending order, and a quote. An app's memory names no user's thread.
  thread_ref bigint constraint memory_thread_ref_fkey references mnemograph.thread (id) on delete set null,
  source_seqs integer[] not null default '{}',
  evidence text,
  -- The thread's turns that an episode covers.
  turn_start integer,
  turn_end integer,
  -- When and in which of its owner's turns it was last asserted: confidence decays by turns.
  asserted_at timestamptz,
  asserted_turn bigint not null default 0,
  -- When the statement is true.
  valid_from timestamptz not null default now(),
  valid_to timestamptz constraint memory_interval check (valid_to >= valid_from),
  superseded_by uuid,
  seen_count integer not null default 1,
  access_count integer not null default 0,
  last_accessed_at timestamptz not null default now(),
  accessed_on date generated always as ((last_accessed_at at time zone 'UTC')::date) stored not null,
  expires_at timestamptz,
  -- Since when it may no longer hold: a memory that it rests on has ended. Null: it is not in doubt.
  doubted_at timestamptz,
  purge_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  revision bigint not null default 1
);
-- One active value per slot, one active statement with the same words.
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
-- What a turn is shown without a search: the most important statements of each category, and of all. The rank is one
-- expression, so that the planner does not confuse the two indexes.
create index memory_profile on mnemograph.memory (owner_ref, category, importance desc, updated_at desc, ref)
  where state = 'active' and kind in ('fact', 'insight') and key is null;
create index memory_rank on mnemograph.memory (owner_ref, (importance + 10 * pinned::integer) desc, updated_at desc, ref)
  where state = 'active';
-- Few of a user's memories are pinned, and each turn is shown all of them.
create index memory_pinned on mnemograph.memory (owner_ref) where state = 'active' and pinned;
create index memory_aging on mnemograph.memory (importance, accessed_on)
  where state = 'active' and not pinned and kind in ('fact', 'insight', 'episode');
create index memory_expiry on mnemograph.memory (expires_at) where state = 'active' and expires_at is not null;
-- For operators' lists of all memories: their orders, the few that are not active, and totals.
create index memory_by_update on mnemograph.memory (updated_at desc, ref desc);
create index memory_by_use on mnemograph.memory (accessed_on desc);
create index memory_by_importance on mnemograph.memory (importance desc, ref desc);
create index memory_hidden on mnemograph.memory (state, ref desc) where state <> 'active';
create index memory_totals on mnemograph.memory (kind, created_at, expires_at) where state = 'active';
-- What is in doubt, and what was merged into a memory: few rows.
create index memory_doubted on mnemograph.memory (owner_ref, doubted_at) where doubted_at is not null;
create index memory_merged on mnemograph.memory (superseded_by) where state = 'merged';
create index memory_purge on mnemograph.memory (purge_at) where state = 'soft_deleted';

-- The words of active memories, for BM25. Deleted with their memory.
create table mnemograph.memory_term (
  owner_ref bigint not null,
  lexeme text collate "C" not null,
  memory_ref bigint not null constraint memory_term_memory_ref_fkey references mnemograph.memory (ref) on delete cascade,
  frequency smallint not null,
  length integer not null,
  constraint memory_term_pkey primary key (owner_ref, lexeme, memory_ref) include (frequency, length)
);
create index memory_term_memory on mnemograph.memory_term (memory_ref);

-- A word that a question asks for. Of an identifier it may be only a part; beside the sentences that ask it is worth less.
create type mnemograph.asked_word as (lexeme text, is_part boolean, is_aside boolean);

-- Which memories were learned from a message. Deleted with their memory, and with the thread.
create table mnemograph.memory_source (
  thread_ref bigint not null constraint memory_source_thread_ref_fkey references mnemograph.thread (id) on delete cascade,
  seq integer not null,
  memory_ref bigint not null constraint memory_source_memory_ref_fkey references mnemograph.memory (ref) on delete cascade,
  constraint memory_source_pkey primary key (thread_ref, seq, memory_ref)
);
create index memory_source_memory on mnemograph.memory_source (memory_ref);

-- Links between memories. Deleted with either.
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

-- The conversations that a note was made from, with those of notes merged into it. A row outlives the note, whose words remain
-- in the audit trail: forgetting a conversation's user finds both by it. Deleted with its thread, or with the app.
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

-- One line for each change, for the header that notifies agents. Deleted with its owner; maintenance trims it.
create table mnemograph.change_log (
  owner_ref bigint not null constraint change_log_owner_ref_fkey references mnemograph.owner (id) on delete cascade,
  rev bigint not null,
  app_id text not null default '',
  memory_id uuid not null,
  event text not null constraint change_log_event
    check (event in ('created', 'updated', 'merged', 'deleted', 'soft_deleted', 'restored', 'doubted', 'confirmed')),
  category text not null,
  line text not null,
  importance real not null,
  created_at timestamptz not null default now(),
  constraint change_log_pkey primary key (owner_ref, rev)
);
create index change_log_memory on mnemograph.change_log (memory_id);
create index change_log_age on mnemograph.change_log using brin (created_at) with (pages_per_range = 16, autosummarize = on);

-- The audit trail, append-only: each change with the fields before and after. Outlives the memory; deleted with its owner.
create table mnemograph.history (
  id bigint generated always as identity constraint history_pkey primary key,
  owner_ref bigint not null constraint history_owner_ref_fkey references mnemograph.owner (id) on delete cascade,
  -- The memory's app, '' for none: forgetting a user within one app finds the entries of deleted memories.
  app_id text not null default '',
  memory_id uuid not null,
  event text not null constraint history_event
    check (event in ('ADD', 'UPDATE', 'DELETE', 'MERGE', 'LINK', 'TTL', 'RESTORE', 'CONSENT', 'DOUBT', 'SETTLE')),
  old jsonb,
  new jsonb,
  actor text,
  rev bigint,
  memory_revision bigint,
  -- The memory's fields as the change left them, by name, without those that are null; null once it is gone. From these
  -- `asOf` reads what was known at a time.
  snapshot jsonb,
  created_at timestamptz not null default now()
);
create index history_memory on mnemograph.history (memory_id, created_at desc);
create index history_owner on mnemograph.history (owner_ref, created_at desc);
create index history_export on mnemograph.history (owner_ref, id);
-- What was removed on request: each search omits the messages that it was learned from.
create index history_removed on mnemograph.history (owner_ref)
  where event = 'DELETE' and new ->> 'state' = 'soft_deleted';
-- What users asked to forget: their words are its evidence.
create index history_requests on mnemograph.history (created_at desc) where event = 'DELETE' and new ? 'evidence';

-- Changes that wait for the user's consent, or for a second signal. Deleted with their owner.
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
  -- Its subject: the slot, or the statement itself if it has no slot.
  slot text not null,
  -- The value, normalised: the same value in other letter case is the same proposal.
  normal_value text not null,
  content_hash text not null,
  -- The memory as it would be written.
  draft jsonb not null,
  evidence jsonb,
  -- The messages that say it, each once: two of them are independent signals.
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
  -- The user is not asked before this time.
  ask_at timestamptz not null default now(),
  -- The thread where the user is asked by an interrupt, and the task of LangGraph's run that asked last.
  asked_in text,
  asked_by text,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  revision bigint not null default 1,
  constraint consent_request_decided check ((status = 'pending') = (decided_at is null))
);
-- Allows one pending proposal per slot.
create unique index consent_request_pending
  on mnemograph.consent_request (owner_ref, mnemograph.id_digest(app_id), category, slot) where status = 'pending';
create index consent_request_slot on mnemograph.consent_request (owner_ref, category, decided_at)
  where status in ('pending', 'refused');
create index consent_request_list on mnemograph.consent_request (owner_ref, ref desc);
create index consent_request_due on mnemograph.consent_request (expires_at) where status = 'pending';

-- Pairs of memories that a model has compared, by the digest of both texts. Maintenance deletes them after 14 days. Deleted
-- with their owner.
create table mnemograph.compared_pair (
  owner_ref bigint not null constraint compared_pair_owner_ref_fkey references mnemograph.owner (id) on delete cascade,
  fingerprint text not null,
  verdict text not null
    constraint compared_pair_verdict check (verdict in ('same', 'updates', 'contradicts', 'related', 'unrelated')),
  compared_at timestamptz not null default now(),
  constraint compared_pair_pkey primary key (owner_ref, fingerprint)
);
create index compared_pair_age on mnemograph.compared_pair (compared_at);

-- Runs of consolidation: those that wait for an operator, and for 30 days those that were decided. `plan` has ids, revisions and
-- verdicts, and no words. Deleted with their owner, and with each memory of `memory_ids` that is forgotten.
create table mnemograph.consolidation (
  id uuid not null constraint consolidation_pkey primary key,
  owner_ref bigint not null constraint consolidation_owner_ref_fkey references mnemograph.owner (id) on delete cascade,
  status text not null
    constraint consolidation_status check (status in ('waiting', 'applied', 'dismissed', 'reverted', 'lapsed')),
  plan jsonb not null,
  memory_ids uuid[] not null,
  -- What the last decision left as it was: it had changed meanwhile.
  left_ids uuid[] not null default '{}',
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  decided_by text
);
create unique index consolidation_waiting on mnemograph.consolidation (owner_ref) where status = 'waiting';
create index consolidation_owner on mnemograph.consolidation (owner_ref, created_at desc);
create index consolidation_latest on mnemograph.consolidation (created_at desc);
create index consolidation_decided on mnemograph.consolidation (decided_at);

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
  -- The indexed fields, and their words.
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
-- SP-GiST indexes ids of any length, and many entries of one id.
create index store_item_user on mnemograph.store_item using spgist (user_id) where user_id <> '';
create index store_item_app on mnemograph.store_item using spgist (app_id) where app_id <> '';
create index store_item_expiry on mnemograph.store_item (expires_at) where expires_at is not null;
