import sql, { empty, type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { type ScopeRow, scopeColumns, scopeOf, threadIs, withinScope } from "../scope/scope-predicates.js";

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

/** Summaries of one thread, oldest first: all of them, or the last `limit` that are older than `before`. */
export async function listSummaries(
  db: Connection,
  { scope, threadId, limit, before }: { scope: Scope; threadId: string } & SummaryPage,
): Promise<Summary[]> {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const latest = await select(
    db,
    sql`
      where ${threadIs(tenantId, threadId)}
        and t.user_id = ${userId} and t.app_id = ${appId}
        and (${before ?? null}::bigint is null or s.id < ${before ?? null}::bigint)
      order by s.id desc limit ${limit ?? null}`,
  );
  return latest.reverse();
}

/** Which of a thread's summaries. */
export interface SummaryPage {
  /** The latest so many, 1 to 1,000. @default all */
  readonly limit?: number | undefined;
  /** Only those before the one with this id. */
  readonly before?: number | undefined;
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
  const rows = await db.query<Omit<SummaryProgress, "scope" | "windowMessages"> & ScopeRow>(sql`
    select t.tenant_id, t.user_id, t.app_id, t.thread_id as "threadId", s.id::float8 as "summaryId",
      s.start_seq as "startSeq", s.end_seq as "endSeq", s.generation_time_ms as "generationTimeMs",
      s.created_at as "createdAt"
    from ${db.schema}.summary s
    join ${db.schema}.thread t on t.id = s.thread_ref
    where s.status = 'completed' ${scope ? sql`and ${withinScope(scopeColumns(scope), "t")}` : empty}
    order by s.id desc limit ${limit}`);
  return rows.map(({ tenant_id, user_id, app_id, ...progress }) => ({
    scope: scopeOf({ tenant_id, user_id, app_id }),
    ...progress,
    windowMessages: progress.endSeq - progress.startSeq + 1,
  }));
}

/** Summaries as `rest` selects them. Ids are bigint, of which a float8 holds all that a sequence gets to. */
async function select(db: Connection, rest: Sql, before: Sql = empty): Promise<Summary[]> {
  return db.query<Summary & Record<string, unknown>>(sql`
    ${before}
    select s.id::float8 as id, t.thread_id as "threadId", s.start_seq as "startSeq", s.end_seq as "endSeq",
      s.base_id::float8 as "baseId",
      (select b.end_seq from ${db.schema}.summary b where b.id = s.base_id) as "baseEndSeq",
      s.status, s.content as text, s.generation_time_ms as "generationTimeMs", s.attempts, s.error,
      s.lease_until as "leaseUntil", s.retry_at as "retryAt", s.rolled_back_at as "rolledBackAt",
      s.created_at as "createdAt"
    from ${db.schema}.summary s
    join ${db.schema}.thread t on t.id = s.thread_ref
    ${rest}`);
}
