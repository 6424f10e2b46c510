import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { type ErasureScope, hasOwner, hasScope } from "../scope/erasure-scope.js";
import type { ExportLine, ExportLineOf } from "./export-line.js";

/** A line of an export, and where it stands in the order of its kind. */
export interface ExportRow<Line extends ExportLine = ExportLine> {
  readonly line: Line;
  /** Numbers and text that the next page goes on from. */
  readonly cursor: string[];
}

/** At most `limit` rows after the one with the cursor `after`; from the first one without. */
export interface ExportPage {
  readonly scope: ErasureScope;
  readonly after: readonly string[] | null;
  readonly limit: number;
}

/** The app of the row `x` where the scope itself does not say it. */
const appOf = ({ userId, whole }: ErasureScope): Sql =>
  userId !== "" && whole ? sql`nullif(x.app_id, '')` : sql`null`;

/** `fields`, a JSON object, and `appId` where the row `x` has one that the scope does not say. */
const withApp = (scope: ErasureScope, fields: Sql): Sql =>
  sql`(${fields}::jsonb || jsonb_strip_nulls(jsonb_build_object('appId', ${appOf(scope)})))`;

/** Counters of the owner, of which the scope is the whole or a part; null where there is none. */
export async function exportOwner(
  db: Connection,
  { ownerRef }: ErasureScope,
): Promise<ExportLineOf<"owner"> | null> {
  const [row] = await db.query<{ line: ExportLineOf<"owner"> }>(sql`
    select json_build_object(
      'type', 'owner', 'revision', revision, 'turns', turns, 'changesTrimmedTo', changes_trimmed_to
    ) as line
    from ${db.schema}.owner where id = ${ownerRef}::bigint`);
  return row?.line ?? null;
}

/** Threads in the order in which they were made. */
export async function exportThreads(
  db: Connection,
  { scope, after, limit }: ExportPage,
): Promise<ExportRow<ExportLineOf<"thread">>[]> {
  return db.query<ExportRow<ExportLineOf<"thread">> & Record<string, unknown>>(sql`
    select array[x.id::text] as cursor, ${withApp(
      scope,
      sql`jsonb_build_object(
        'type', 'thread', 'threadId', x.thread_id, 'revSeen', x.rev_seen, 'createdAt', x.created_at,
        'lastActivityAt', x.last_activity_at,
        'tasks', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'task', k.task, 'doneUntil', k.done_until, 'due', k.retry_at is not null or k.lease_until is not null
          ) order by k.task), '[]')
          from ${db.schema}.thread_task k where k.thread_ref = x.id
        )
      )`,
    )} as line
    from ${db.schema}.thread x
    where ${hasScope(scope)} and x.id > ${after?.[0] ?? "0"}::bigint
    order by x.id limit ${limit}`);
}

/** The messages of one thread, in order. */
export async function exportMessages(
  db: Connection,
  { threadRef, threadId, after, limit }: ThreadPage,
): Promise<ExportRow<ExportLineOf<"message">>[]> {
  return db.query<ExportRow<ExportLineOf<"message">> & Record<string, unknown>>(sql`
    select array[m.seq::text] as cursor, json_strip_nulls(json_build_object(
      'type', 'message', 'threadId', ${threadId}::text, 'seq', m.seq, 'messageId', m.message_id,
      'serialised', m.serialised, 'saidAt', m.said_at, 'createdAt', m.created_at, 'agentId', m.agent_id,
      'runId', m.run_id
    )) as line
    from ${db.schema}.message m
    where m.thread_ref = ${threadRef}::bigint and m.seq > ${after?.[0] ?? "-1"}::int
    order by m.seq limit ${limit}`);
}

/** A page of what belongs to one thread. */
export interface ThreadPage extends Omit<ExportPage, "scope"> {
  readonly threadRef: string;
  readonly threadId: string;
}

/** The settled summaries of one thread that cover no message after `lastSeq`, oldest first. */
export async function exportSummaries(
  db: Connection,
  { threadRef, threadId, lastSeq, after, limit }: ThreadPage & { readonly lastSeq: number },
): Promise<ExportRow<ExportLineOf<"summary">>[]> {
  return db.query<ExportRow<ExportLineOf<"summary">> & Record<string, unknown>>(sql`
    select array[s.id::text] as cursor, json_build_object(
      'type', 'summary', 'threadId', ${threadId}::text, 'startSeq', s.start_seq, 'endSeq', s.end_seq,
      'createdAt', s.created_at, 'status', s.status, 'text', s.content,
      'generationTimeMs', s.generation_time_ms, 'attempts', s.attempts, 'error', s.error,
      'rolledBackAt', s.rolled_back_at, 'startRound', s.start_round, 'endRound', s.end_round,
      'base', case when b.id is not null then json_build_object(
        'startSeq', b.start_seq, 'endSeq', b.end_seq, 'createdAt', b.created_at
      ) end
    ) as line
    from ${db.schema}.summary s
    left join lateral (select * from ${db.schema}.summary where id = s.base_id limit 1) b on true
    where s.thread_ref = ${threadRef}::bigint and s.status <> 'processing' and s.end_seq <= ${lastSeq}
      and s.id > ${after?.[0] ?? "0"}::bigint
    order by s.id limit ${limit}`);
}

/** Memories in whatever state, in the order in which they were made. */
export async function exportMemories(
  db: Connection,
  { scope, after, limit }: ExportPage,
): Promise<ExportRow<ExportLineOf<"memory">>[]> {
  return db.query<ExportRow<ExportLineOf<"memory">> & Record<string, unknown>>(sql`
    select array[x.ref::text] as cursor, ${withApp(
      scope,
      sql`jsonb_build_object(
        'type', 'memory', 'id', x.id, 'kind', x.kind, 'category', x.category, 'key', x.key, 'value', x.value,
        'text', x.content, 'importance', x.importance, 'confidence', x.confidence, 'pinned', x.pinned,
        'state', x.state, 'origin', x.origin, 'trust', x.trust, 'tags', x.tags, 'agentId', x.agent_id,
        'runId', x.run_id, 'actorId', x.actor_id, 'role', x.role, 'threadId', t.thread_id,
        'sourceSeqs', x.source_seqs, 'evidence', x.evidence, 'turnStart', x.turn_start, 'turnEnd', x.turn_end,
        'assertedTurn', x.asserted_turn, 'validFrom', x.valid_from, 'validTo', x.valid_to,
        'assertedAt', x.asserted_at,
        'supersededBy', x.superseded_by, 'seenCount', x.seen_count, 'accessCount', x.access_count,
        'lastAccessedAt', x.last_accessed_at, 'purgeAt', x.purge_at, 'createdAt', x.created_at,
        'updatedAt', x.updated_at
      )`,
    )} as line
    from ${db.schema}.memory x
    -- A thread of somebody else is named to nobody.
    left join ${db.schema}.thread t on t.id = x.thread_ref and t.user_id = ${scope.userId}
    where ${hasOwner(scope)} and x.ref > ${after?.[0] ?? "0"}::bigint
    order by x.ref limit ${limit}`);
}

/** Links between memories of the scope. */
export async function exportRelations(
  db: Connection,
  { scope, after, limit }: ExportPage,
): Promise<ExportRow<ExportLineOf<"relation">>[]> {
  const [from = "0", to = "0", type = ""] = after ?? [];
  return db.query<ExportRow<ExportLineOf<"relation">> & Record<string, unknown>>(sql`
    select array[r.from_ref::text, r.to_ref::text, r.relation_type] as cursor, json_build_object(
      'type', 'relation', 'from', x.id, 'to', o.id, 'relationType', r.relation_type, 'strength', r.strength,
      'createdAt', r.created_at
    ) as line
    from ${db.schema}.memory x
    join ${db.schema}.relation r on r.from_ref = x.ref
    join ${db.schema}.memory o on o.ref = r.to_ref and o.owner_ref = x.owner_ref
    where ${hasOwner(scope)} and (${scope.whole} or o.app_id = ${scope.appId}) and x.ref >= ${from}::bigint
      and (r.from_ref, r.to_ref, r.relation_type) > (${from}::bigint, ${to}::bigint, ${type}::text)
    order by r.from_ref, r.to_ref, r.relation_type limit ${limit}`);
}

/** The audit trail, oldest first. */
export async function exportHistory(
  db: Connection,
  { scope, after, limit }: ExportPage,
): Promise<ExportRow<ExportLineOf<"history">>[]> {
  return db.query<ExportRow<ExportLineOf<"history">> & Record<string, unknown>>(sql`
    select array[x.id::text] as cursor, ${withApp(
      scope,
      sql`jsonb_build_object(
        'type', 'history', 'memoryId', x.memory_id, 'event', x.event, 'old', x.old, 'new', x.new,
        'actor', x.actor, 'revision', x.rev, 'createdAt', x.created_at
      )`,
    )} as line
    from ${db.schema}.history x
    where ${hasOwner(scope)} and x.id > ${after?.[0] ?? "0"}::bigint
    order by x.id limit ${limit}`);
}

/** The news of the scope's memories, by revision. */
export async function exportChanges(
  db: Connection,
  { scope, after, limit }: ExportPage,
): Promise<ExportRow<ExportLineOf<"change">>[]> {
  return db.query<ExportRow<ExportLineOf<"change">> & Record<string, unknown>>(sql`
    select array[x.rev::text] as cursor, ${withApp(
      scope,
      sql`jsonb_build_object(
        'type', 'change', 'revision', x.rev, 'memoryId', x.memory_id, 'event', x.event, 'category', x.category,
        'line', x.line, 'importance', x.importance, 'createdAt', x.created_at
      )`,
    )} as line
    from ${db.schema}.change_log x
    where ${hasOwner(scope)} and x.rev > ${after?.[0] ?? "-1"}::bigint
    order by x.rev limit ${limit}`);
}

/** What waits for consent, and what was decided; in the order in which it was proposed. */
export async function exportConsents(
  db: Connection,
  { scope, after, limit }: ExportPage,
): Promise<ExportRow<ExportLineOf<"consent">>[]> {
  return db.query<ExportRow<ExportLineOf<"consent">> & Record<string, unknown>>(sql`
    select array[x.ref::text] as cursor, ${withApp(
      scope,
      sql`jsonb_build_object(
        'type', 'consent', 'id', x.id, 'rule', x.rule, 'category', x.category, 'key', x.key, 'slot', x.slot,
        'normalValue', x.normal_value, 'contentHash', x.content_hash, 'draft', x.draft, 'status', x.status,
        'seenCount', x.seen_count, 'signals', x.signals, 'proposedBy', x.proposed_by, 'memoryId', x.memory_id,
        'createdAt', x.created_at, 'expiresAt', x.expires_at, 'askAt', x.ask_at, 'decidedAt', x.decided_at,
        'decidedBy', x.decided_by, 'decidedVia', x.decided_via, 'evidence', x.evidence
      )`,
    )} as line
    from ${db.schema}.consent_request x
    where ${hasOwner(scope)} and x.ref > ${after?.[0] ?? "0"}::bigint
    order by x.ref limit ${limit}`);
}
