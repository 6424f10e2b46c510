import { setTimeout as sleep } from "node:timers/promises";
import sql from "sql-template-tag";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import { errorCodeOf } from "../postgres/database-error.js";
import type { Scope } from "../scope/scope.js";
import {
  idDigest,
  isSeenFrom,
  ownerColumns,
  ownerIs,
  scopeColumns,
  uuidOf,
} from "../scope/scope-predicates.js";
import type { TranscriptMessage } from "../text/message-text.js";

/** A message not yet in the transcript: it has no seq. */
export interface NewMessage extends Omit<TranscriptMessage, "seq"> {
  /** Text prepared for `to_tsvector`; empty for what is not searched. */
  readonly terms: string;
  /** The actor's name, prepared likewise. */
  readonly actorTerms: string;
}

/** What one round's end writes. */
export interface RecordStatement {
  readonly scope: Scope;
  readonly threadId: string;
  readonly messages: readonly NewMessage[];
  /** How many of the last messages fill a window; system messages fill none. */
  readonly windowMessages: number;
  /** How many of the first messages `talk` counts. @default all */
  readonly triggerMessages?: number | undefined;
  /** When it was said. @default now */
  readonly saidAt?: Date | undefined;
  /** The agent and the run that it was said in. */
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
  /** Revision of the owner's memories that the round was told of. */
  readonly revSeen?: number | undefined;
  /** Ids of the memories that the round was shown. */
  readonly shownIds?: readonly string[] | undefined;
  /** Similarity of the best memory that the round was shown, null for none; unset when no search is to be counted. */
  readonly found?: number | null | undefined;
  /** Whether new user messages make the extraction of facts due. */
  readonly extract?: boolean | undefined;
}

/** A thread's messages without its system messages. */
interface RecordedTalk {
  /** How many there are, of the first `triggerMessages` and those just recorded. */
  readonly messages: number;
  /** Bytes of those of them that no summary covers. */
  readonly unsummarisedBytes: number;
  /** Seq of the last one; −1 when there is none. */
  readonly lastSeq: number;
  /** Seq of the first of the last `windowMessages`; 0 when there are no more than that. */
  readonly earliestSeq: number;
}

/** A thread's state right after messages were recorded. */
export interface RecordedThread {
  readonly threadRef: number;
  /** How many of the messages were new. */
  readonly recorded: number;
  /** −1 when the transcript is empty. */
  readonly lastSeq: number;
  /** What of it is talk: system messages are none. */
  readonly talk: RecordedTalk;
  /** Seqs of the user messages among the last `windowMessages` of the talk, and the last one of all; ascending. */
  readonly roundStarts: number[];
  readonly processing: boolean;
  readonly summarisedSeq: number | null;
  /** Rounds of the thread. */
  readonly turns: number;
  /** The last of them that has been compressed; 0 for none. */
  readonly compressedTurns: number;
}

interface Row {
  has_owner: boolean;
  id: string | null;
  recorded: number;
  last_seq: number;
  talk: RecordedTalk;
  round_starts: number[];
  processing: boolean;
  summarised_seq: number | null;
  turns: number;
  compressed_turns: number;
}

/**
 * Another writer of the same thread got in between; each collision means that it made progress. The waits grow
 * to some 250 ms, so that even hundreds of writers at once find their turn.
 */
const mostCollisions = 50;
const waitMs = (collisions: number) => Math.random() * 10 * collisions;

/**
 * Appends those of `messages` whose ids the thread does not have yet, in order, and makes the thread if it
 * is new. One round trip, atomic; `null` when the thread belongs to another scope.
 *
 * The thread's row is locked while messages are added, but the statement's snapshot may be older than the
 * lock: then it collides with the (thread, seq) or (thread, message id) key, nothing is written, and a new
 * snapshot is taken. So seqs have no gaps and no message is stored twice. What the index refuses is recorded without
 * being indexed.
 */
export async function recordMessages(db: Connection, input: RecordStatement): Promise<RecordedThread | null> {
  try {
    return await recordInTurn(db, input);
  } catch (error) {
    const lighter = isTooMuch(error) ? withFewerTerms(input) : null;
    if (lighter) return recordMessages(db, lighter);
    throw error;
  }
}

async function recordInTurn(db: Connection, input: RecordStatement): Promise<RecordedThread | null> {
  for (let collisions = 1; collisions <= mostCollisions; collisions++) {
    try {
      const recorded = await tryRecord(db, input);
      if (recorded !== "collided") return recorded;
    } catch (error) {
      // 23503: the owner was forgotten after the snapshot was taken; the next one makes it anew.
      const collided = error instanceof Error && ["23505", "23503"].includes(errorCodeOf(error.cause));
      if (!collided) throw error;
    }
    await sleep(waitMs(collisions));
  }
  throw new MemoryError(
    "BUSY",
    `Nothing was recorded: others wrote to the same thread each of the ${mostCollisions} times it was tried. Try again.`,
  );
}

/** SQLSTATE class 54: more, or longer, words than the index takes. */
function isTooMuch(error: unknown): boolean {
  return error instanceof Error && errorCodeOf(error.cause).startsWith("54");
}

/** `input` with nothing indexed of the message that has the most to index; null when nothing is. */
function withFewerTerms(input: RecordStatement): RecordStatement | null {
  const lengthOf = ({ terms, actorTerms }: NewMessage) => terms.length + actorTerms.length;
  const most = input.messages.reduce((longest, message) => Math.max(longest, lengthOf(message)), 0);
  if (most === 0) return null;
  const heaviest = input.messages.findIndex((message) => lengthOf(message) === most);
  const messages = input.messages.map((message, index) =>
    index === heaviest ? { ...message, terms: "", actorTerms: "" } : message,
  );
  return { ...input, messages };
}

async function tryRecord(
  db: Connection,
  input: RecordStatement,
): Promise<RecordedThread | null | "collided"> {
  const { threadId, messages } = input;
  const { tenantId, userId, appId } = scopeColumns(input.scope);
  const { agentId = null, runId = null } = input;
  const owner = ownerColumns(input.scope);
  const column = <Key extends keyof NewMessage>(key: Key) => messages.map((message) => message[key]);
  const { schema } = db;
  const [row] = await db.query<Row>(
    sql`
    with input as (
      select * from unnest(
        ${column("messageId")}::text[], ${column("role")}::text[], ${column("actor")}::text[],
        ${column("text")}::text[], ${column("serialised")}::text[], ${column("terms")}::text[],
        ${column("actorTerms")}::text[]
      ) with ordinality as i (message_id, role, actor, content, serialised, terms, actor_terms, position)
    ),
    term as materialized (
      select position, v.lexeme, least(coalesce(cardinality(v.positions), 1), 32767) as frequency,
        sum(coalesce(cardinality(v.positions), 1)) over (partition by position) as length
      from input cross join lateral unnest(to_tsvector(${db.language}::regconfig, terms)) v
    ),
    known_owner as (
      select o.id, o.revision from ${schema}.owner o where ${ownerIs(owner)}
    ),
    new_owner as (
      insert into ${schema}.owner (tenant_id, user_id, app_id, turns, message_count, message_length)
      select ${tenantId}, ${userId}, ${owner.appId}, (select count(*) from input where role = 'user'),
        (select count(distinct position) from term), (select coalesce(sum(frequency), 0) from term)
      where not exists (select from known_owner)
      on conflict do nothing
      returning id, revision
    ),
    its_owner as (
      select id, revision from known_owner union all select id, revision from new_owner
    ),
    owned as (
      insert into ${schema}.thread as t
        (tenant_id, thread_id, user_id, app_id, owner_ref, rev_seen, created_at, last_activity_at)
      -- A round that began before its user was forgotten has seen revisions that are to come.
      select ${tenantId}, ${threadId}, ${userId}, ${appId}, o.id, least(${input.revSeen ?? 0}::bigint, o.revision),
        ${db.now()}, ${db.now()}
      from its_owner o
      on conflict (${idDigest(sql`tenant_id`)}, ${idDigest(sql`thread_id`)}) do update
        set last_activity_at = ${db.now()}, rev_seen = greatest(t.rev_seen, excluded.rev_seen)
        where t.tenant_id = excluded.tenant_id and t.thread_id = excluded.thread_id
          and t.user_id = excluded.user_id and t.app_id = excluded.app_id
      returning id, owner_ref
    ),
    before as (
      select coalesce(
        (select m.seq from ${schema}.message m where m.thread_ref = owned.id order by m.seq desc limit 1), -1
      ) as last_seq
      from owned
    ),
    fresh as (
      select i.*, owned.id as thread_ref, owned.owner_ref,
        before.last_seq + row_number() over (order by i.position) as seq
      from owned, before, input i
      where not exists (
        select from ${schema}.message m where m.thread_ref = owned.id and m.message_id = i.message_id
      )
    ),
    added as (
      insert into ${schema}.message
        (thread_ref, seq, message_id, role, actor, content, serialised, agent_id, run_id, said_at, created_at)
      select thread_ref, seq, message_id, role, actor, content, serialised, ${agentId}::text, ${runId}::text,
        coalesce(${input.saidAt ?? null}::timestamptz, ${db.now()}), ${db.now()}
      from fresh
    ),
    indexed as (
      insert into ${schema}.message_term (owner_ref, lexeme, thread_ref, seq, frequency, length)
      select f.owner_ref, term.lexeme, f.thread_ref, f.seq, term.frequency, term.length
      from fresh f join term on term.position = f.position
      union
      select f.owner_ref, '@' || word, f.thread_ref, f.seq, 1, 1
      from fresh f cross join lateral regexp_split_to_table(f.actor_terms, '\\s+') word
      where f.role in ('user', 'assistant') and word <> ''
    ),
    counted as (
      update ${schema}.owner o
      set turns = o.turns + (select count(*) from fresh where role = 'user'),
        message_count = o.message_count
          + (select count(distinct position) from term join fresh using (position)),
        message_length = o.message_length
          + (select coalesce(sum(frequency), 0) from term join fresh using (position))
      from known_owner where o.id = known_owner.id and exists (select from fresh)
      returning o.id
    ),
    -- Reading counted locks the owner before the rows below, in the order in which writers of memories do.
    due as (
      insert into ${schema}.thread_task as k (thread_ref, task, done_until, retry_at)
      select distinct f.thread_ref, 'extract', -1, ${db.now()} from fresh f
      where ${input.extract ?? false} and f.role = 'user' and (select count(*) from counted) >= 0
      on conflict (thread_ref, task) do update set retry_at = coalesce(k.retry_at, excluded.retry_at)
    ),
    searched as (
      insert into ${schema}.event
        (tenant_id, user_id, app_id, thread_id, agent_id, run_id, node, step, op, status, similarity, created_at)
      select ${tenantId}, ${userId}, ${appId}, ${threadId}, ${agentId}::text, ${runId}::text,
        'context', 'recall', 'search', 'ok', ${input.found ?? null}::real, ${db.now()}
      from owned where ${input.found !== undefined} and exists (select from fresh)
    ),
    accessed as (
      update ${schema}.memory m
      set last_accessed_at = ${db.now()}, access_count = m.access_count + 1
      from owned
      where m.id = any (${(input.shownIds ?? []).map(uuidOf)}::uuid[]) and ${isSeenFrom(input.scope)}
        and (select count(*) from counted) >= 0
    ),
    fresh_talk as (
      select seq, role, octet_length(content) as bytes from fresh where role <> 'system'
    ),
    recent as (
      select seq, role from (
        select seq, role from fresh_talk
        union all
        select m.seq, m.role from owned cross join lateral (
          select m.seq, m.role from ${schema}.message m where m.thread_ref = owned.id and m.role <> 'system'
          order by m.seq desc limit ${input.windowMessages}::bigint + 1
        ) m
      ) t
      order by seq desc limit ${input.windowMessages}::bigint + 1
    ),
    first as (
      select seq, bytes from fresh_talk
      union all
      select m.seq, m.bytes from owned cross join lateral (
        select m.seq, octet_length(m.content) as bytes
        from ${schema}.message m where m.thread_ref = owned.id and m.role <> 'system'
        order by m.seq limit ${input.triggerMessages ?? null}::bigint
      ) m
    ),
    summarised as (
      select max(s.end_seq) as seq from owned, ${schema}.summary s
      where s.thread_ref = owned.id and s.status = 'completed' and s.rolled_back_at is null
    ),
    starts as (
      select seq from recent where role = 'user'
      union all select seq from fresh where role = 'user'
      union all (
        select m.seq from owned, ${schema}.message m
        where m.thread_ref = owned.id and m.role = 'user'
        order by m.seq desc limit 1
      )
    )
    select exists (select from its_owner) as has_owner, owned.id,
      (select count(*) from fresh)::int as recorded,
      (select last_seq + (select count(*) from fresh) from before)::int as last_seq,
      json_build_object(
        'messages', (select count(*) from first),
        'unsummarisedBytes', (
          select coalesce(sum(bytes), 0) from first where seq > coalesce((select seq from summarised), -1)
        ),
        'lastSeq', (select coalesce(max(seq), -1) from recent),
        'earliestSeq', case when (select count(*) from recent) > ${input.windowMessages}::bigint then (
          select seq from recent order by seq desc offset ${input.windowMessages}::bigint - 1 limit 1
        ) else 0 end
      ) as talk,
      array(select distinct seq::int from starts order by 1) as round_starts,
      exists (
        select from ${schema}.summary s
        where s.thread_ref = owned.id and s.status = 'processing' and s.lease_until > ${db.now()}
      ) as processing,
      (select seq from summarised) as summarised_seq,
      (
        (select count(*) from ${schema}.message m where m.thread_ref = owned.id and m.role = 'user')
        + (select count(*) from fresh where role = 'user')
      )::int as turns,
      coalesce((
        select k.done_until from ${schema}.thread_task k where k.thread_ref = owned.id and k.task = 'compress'
      ), 0) as compressed_turns
    from (values (1)) one left join owned on true`,
    { prepare: true },
  );
  // Another process made the owner's row meanwhile; it is not in this statement's snapshot.
  if (!row?.has_owner) return "collided";
  if (row.id === null) return null;
  return {
    threadRef: Number(row.id),
    recorded: row.recorded,
    lastSeq: row.last_seq,
    talk: row.talk,
    roundStarts: row.round_starts,
    processing: row.processing,
    summarisedSeq: row.summarised_seq,
    turns: row.turns,
    compressedTurns: row.compressed_turns,
  };
}
