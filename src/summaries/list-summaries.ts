import sql, { empty, type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { scopeColumns, scopeOf, threadIs, withinScope } from "../scope/scope-predicates.js";

/** Counts and times of all summaries. */
export interface SummaryStats {
  readonly completed: number;
  readonly processing: number;
  readonly failed: number;
  /** Mean time of the model work, in ms; null when nothing is completed. */
  readonly averageMs: number | null;
  readonly maxMs: number | null;
}

/** How many summaries there are and how long they took, over all threads. */
export async function summaryStats(db: Connection): Promise<SummaryStats> {
  const [row] = await db.query<SummaryStats>(sql`
    select
      count(*) filter (where status = 'completed')::int as completed,
      count(*) filter (where status = 'processing')::int as processing,
      count(*) filter (where status = 'failed')::int as failed,
      avg(generation_time_ms) filter (where status = 'completed')::float8 as "averageMs",
      max(generation_time_ms) filter (where status = 'completed') as "maxMs"
    from ${db.schema}.summary`);
  return row as SummaryStats;
}

/** One version in a thread's chain of summaries. */
export interface Summary {
  readonly id: number;
  readonly threadId: string;
  readonly startSeq: number;
  readonly endSeq: number;
  /** The version this one was made from. */
  readonly baseId: number | null;
  readonly baseEndSeq: number | null;
  readonly status: "processing" | "completed" | "failed";
  readonly text: string | null;
  readonly generationTimeMs: number | null;
  readonly attempts: number;
  readonly error: string | null;
  readonly leaseUntil: Date | null;
  readonly retryAt: Date | null;
  readonly rolledBackAt: Date | null;
  readonly createdAt: Date;
}

interface Row {
  id: string;
  thread_id: string;
  start_seq: number;
  end_seq: number;
  base_id: string | null;
  base_end_seq: number | null;
  status: Summary["status"];
  content: string | null;
  generation_time_ms: number | null;
  attempts: number;
  error: string | null;
  lease_until: Date | null;
  retry_at: Date | null;
  rolled_back_at: Date | null;
  created_at: Date;
}

/** Every summary of one thread, oldest first. */
export async function listSummaries(
  db: Connection,
  { scope, threadId }: { scope: Scope; threadId: string },
): Promise<Summary[]> {
  const { tenantId, userId, appId } = scopeColumns(scope);
  return select(
    db,
    sql`
      where ${threadIs(tenantId, threadId)}
        and t.user_id = ${userId} and t.app_id = ${appId}
      order by s.id`,
  );
}

/** Versions in a chain that are listed: one a round, it is years of a conversation. */
const longestChain = 10_000;

/**
 * The chain behind the summary in use: it, what it was made from, and so on; newest first.
 *
 * Empty before the first summary.
 */
export async function listSummaryChain(
  db: Connection,
  { scope, threadId }: { scope: Scope; threadId: string },
): Promise<Summary[]> {
  const { tenantId, userId, appId } = scopeColumns(scope);
  return select(
    db,
    sql`join chain on chain.id = s.id order by s.id desc`,
    sql`
      with recursive chain as (
        (
          select s.id, s.base_id, 1 as depth
          from ${db.schema}.summary s join ${db.schema}.thread t on t.id = s.thread_ref
          where ${threadIs(tenantId, threadId)}
            and t.user_id = ${userId} and t.app_id = ${appId}
            and s.status = 'completed' and s.rolled_back_at is null
          order by s.end_seq desc, s.id desc limit 1
        )
        union all
        -- A base is older than what was made of it: so the chain ends, whatever the rows say.
        select b.id, b.base_id, chain.depth + 1
        from chain join ${db.schema}.summary b on b.id = chain.base_id and b.id < chain.id
        where chain.depth < ${longestChain}
      )`,
  );
}

/** Summaries of all threads that were started longer than `olderThanMs` ago and are still `processing`, oldest first. */
export async function listStuckSummaries(db: Connection, olderThanMs: number): Promise<Summary[]> {
  return select(
    db,
    sql`
      where s.status = 'processing' and s.created_at <= ${db.now()} - ${olderThanMs} * interval '1 millisecond'
      order by s.id`,
  );
}

/** How far the summaries of one thread had come when one was completed. */
export interface SummaryProgress {
  readonly scope: Scope;
  readonly threadId: string;
  readonly summaryId: number;
  readonly startSeq: number;
  readonly endSeq: number;
  /** Messages in its window. */
  readonly windowMessages: number;
  readonly generationTimeMs: number | null;
  readonly createdAt: Date;
}

/** The summaries completed last, of the threads of a scope or of all, latest first. */
export async function listSummaryProgress(
  db: Connection,
  { scope, limit }: { scope: Scope | null; limit: number },
): Promise<SummaryProgress[]> {
  const rows = await db.query<Row & { tenant_id: string; user_id: string; app_id: string }>(sql`
    select t.tenant_id, t.user_id, t.app_id, t.thread_id, s.id, s.start_seq, s.end_seq, s.generation_time_ms, s.created_at
    from ${db.schema}.summary s
    join ${db.schema}.thread t on t.id = s.thread_ref
    where s.status = 'completed' ${scope ? sql`and ${withinScope(scopeColumns(scope), "t")}` : empty}
    order by s.id desc limit ${limit}`);
  return rows.map((row) => ({
    ...{ scope: scopeOf(row), threadId: row.thread_id, summaryId: Number(row.id) },
    ...{ startSeq: row.start_seq, endSeq: row.end_seq, windowMessages: row.end_seq - row.start_seq + 1 },
    ...{ generationTimeMs: row.generation_time_ms, createdAt: row.created_at },
  }));
}

async function select(db: Connection, rest: Sql, before: Sql = empty): Promise<Summary[]> {
  const rows = await db.query<Row>(sql`
    ${before}
    select s.id, t.thread_id, s.start_seq, s.end_seq, s.base_id,
      (select b.end_seq from ${db.schema}.summary b where b.id = s.base_id) as base_end_seq, s.status, s.content,
      s.generation_time_ms, s.attempts, s.error, s.lease_until, s.retry_at, s.rolled_back_at, s.created_at
    from ${db.schema}.summary s
    join ${db.schema}.thread t on t.id = s.thread_ref
    ${rest}`);
  return rows.map((row) => ({
    id: Number(row.id),
    threadId: row.thread_id,
    startSeq: row.start_seq,
    endSeq: row.end_seq,
    baseId: row.base_id === null ? null : Number(row.base_id),
    baseEndSeq: row.base_end_seq,
    status: row.status,
    text: row.content,
    generationTimeMs: row.generation_time_ms,
    attempts: row.attempts,
    error: row.error,
    leaseUntil: row.lease_until,
    retryAt: row.retry_at,
    rolledBackAt: row.rolled_back_at,
    createdAt: row.created_at,
  }));
}
