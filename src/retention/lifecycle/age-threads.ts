import sql, { raw, type Sql } from "sql-template-tag";
import { hasCheckpoints } from "../../checkpoints/checkpoint-names.js";
import { pruneThread } from "../../checkpoints/prune-checkpoints.js";
import { insertEvent } from "../../observability/events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import type { Database } from "../../postgres/database.js";
import { findErasureScope, hasScope } from "../../scope/erasure-scope.js";
import { delegatedMark, type ThreadAddress } from "../../scope/scope.js";
import { type ScopeRow, scopeOf } from "../../scope/scope-predicates.js";
import { isNotDelegated } from "../../transcript/list-threads.js";
import {
  eraseConversationBatch,
  eraseMemoryBatch,
  eraseRecordBatch,
} from "../forgetting/erase-batches.js";
import { addCounts, countsInWords, type RowCounts, totalOf } from "../forgetting/erasure-tables.js";
import { tombstone } from "../forgetting/forget.js";

/** Of one hourly pass: other purges wait for it. */
const maxDeleted = 2_000;
const threadsPerQuery = 100;
/** A tenant with more takes its turn with the others in the next pass. */
const maxCompared = 10_000;

/**
 * Deletes the conversations that nobody went on with for `threads.idleDays`, each as
 * `threads.delete` does, in one transaction under its lock: a message or a run that comes at that
 * moment keeps it. The longest idle first, of each tenant in turn.
 */
export async function deleteIdleThreads(db: Database, idleDays: number | undefined): Promise<void> {
  if (idleDays === undefined) return;
  const idle = { days: idleDays, hasCheckpoints: await hasCheckpoints(db) };
  for (let deleted = 0; deleted < maxDeleted; ) {
    const threads = await findIdleThreads(db, idle);
    let gone = 0;
    for (const { threadId, ...scope } of threads) {
      const mayGo = sql`${isIdle(db, idle)} and not ${isWaiting(db)}`;
      if (await deleteThreadWhile(db, { scope: scopeOf(scope), threadId }, mayGo)) gone += 1;
    }
    deleted += gone;
    // Those that are left are in use again.
    if (gone === 0 || threads.length < threadsPerQuery) return;
  }
}

async function findIdleThreads(db: Connection, idle: IdleTime) {
  return db.query<ScopeRow & { threadId: string }>(sql`
    select d.tenant_id, d.user_id, d.app_id, d.thread_id as "threadId" from (
      select t.tenant_id, t.user_id, t.app_id, t.thread_id, t.last_activity_at from ${db.schema}.thread t
      where ${isIdle(db, idle)} and ${isNotDelegated} and not ${isWaiting(db)}
        and not exists (
          select from ${db.schema}.thread c
          where c.owner_ref = t.owner_ref and starts_with(c.thread_id, t.thread_id || ${delegatedMark})
            and (not ${isIdle(db, idle, "c")} or ${isWaiting(db, "c")})
        )
      order by t.last_activity_at limit ${maxCompared}
    ) d
    order by row_number() over (partition by d.tenant_id order by d.last_activity_at), d.last_activity_at
    limit ${threadsPerQuery}`);
}

interface IdleTime {
  readonly days: number;
  /** Whether the tables of a checkpointer exist. */
  readonly hasCheckpoints: boolean;
}

/** Whether a thread has been idle for longer. A run writes checkpoints before its messages, or alone. */
export function isIdle(db: Connection, idle: IdleTime, thread = "t"): Sql {
  const t = raw(thread);
  const since = sql`${db.now()} - ${idle.days}::float8 * interval '1 day'`;
  if (!idle.hasCheckpoints) return sql`${t}.last_activity_at < ${since}`;
  return sql`(
    ${t}.last_activity_at < ${since} and coalesce((
      select (k.checkpoint ->> 'ts')::timestamptz from ${db.schema}.checkpoints k
      where k.thread_id = ${t}.checkpoint_name and k.checkpoint_ns = '' order by k.checkpoint_id desc limit 1
    ) < ${since}, true)
  )`;
}

/**
 * Whether something still has to be made of a thread: background work that is due, runs, failed or
 * was given up, or a consent that the user is or will be asked for because of it.
 */
export function isWaiting({ schema }: Connection, thread = "t"): Sql {
  const t = raw(thread);
  return sql`(
    exists (
      select from ${schema}.work k where k.thread_ref = ${t}.id and k.given_up_at is null
        and (k.retry_at is not null or k.lease_until is not null or k.error is not null)
    )
    or exists (select from ${schema}.work k where k.thread_ref = ${t}.id and k.given_up_at is not null)
    or exists (
      select from ${schema}.consent_request r where r.owner_ref = ${t}.owner_ref and r.status = 'pending'
        and ${t}.thread_id in (r.draft #>> '{source,threadId}', r.evidence ->> 'threadId', r.asked_in)
    )
  )`;
}

/** One transaction has no use for small batches. */
const batchSize = 10_000;

/**
 * Deletes a thread if `mayGo` holds of it and of its agents' threads, as `t`, once they are locked.
 * In one transaction, so that none is left in part. Returns whether it deleted anything.
 */
async function deleteThreadWhile(
  db: Database,
  { scope, threadId }: ThreadAddress,
  mayGo: Sql,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const erasure = await findErasureScope(tx, scope, { threadId, memories: "episodes" });
    const family = await tx.query<{ ref: string }>(sql`
      select x.id::text as ref from ${tx.schema}.thread x where ${hasScope(erasure)} order by x.id for no key update`);
    const refs = family.map(({ ref }) => ref);
    const allowed = await tx.query(sql`
      select from ${tx.schema}.thread t where t.id = any (${refs}::bigint[]) and ${mayGo}`);
    if (refs.length === 0 || allowed.length < refs.length) return false;
    const removed: RowCounts = {};
    for (const eraseBatch of [eraseMemoryBatch, eraseConversationBatch, eraseRecordBatch]) {
      let erased: RowCounts;
      do {
        erased = await eraseBatch(tx, erasure, { scope, batchSize, shared: new Set() });
        addCounts(removed, erased);
      } while (totalOf(erased) > 0);
    }
    await insertEvent(tx, { ...tombstone(scope, removed), step: "lifecycle" });
    return totalOf(removed) > 0;
  });
}

/** Of one hourly pass. */
const maxPruned = 1_000;

/**
 * Deletes the checkpoints that threads no longer need, by `checkpoints.keep`: of those with the most
 * first, of each tenant in turn. Only threads of `memory.checkpointer()`, beside which graphs may
 * run. An event of each says how many went.
 */
export async function pruneThreads(db: Database, keep: number | undefined): Promise<void> {
  if (keep === undefined || !(await hasCheckpoints(db))) return;
  for (const { name, threadId, ...scope } of await findLongThreads(db, keep)) {
    const pruned = await pruneThread(db, name, { keepLast: keep, keepBranches: true });
    if (pruned.checkpoints === 0) continue;
    const event = { scope: scopeOf(scope), threadId, step: "lifecycle", op: "delete" } as const;
    await insertEvent(db, { ...event, status: "ok", detail: countsInWords({ ...pruned }) });
  }
}

async function findLongThreads(db: Connection, keep: number) {
  return db.query<ScopeRow & { name: string; threadId: string }>(sql`
    select l.name, t.thread_id as "threadId", t.tenant_id, t.user_id, t.app_id from (
      select c.thread_id as name, count(*) as count from ${db.schema}.checkpoints c
      where c.checkpoint_ns = '' group by c.thread_id having count(*) > ${keep}::bigint
    ) l
    join ${db.schema}.thread t on t.checkpoint_name = l.name
    order by row_number() over (partition by t.tenant_id order by l.count desc), l.count desc
    limit ${maxPruned}`);
}
