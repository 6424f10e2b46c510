import sql, { raw, type Sql } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { Runtime } from "../../runtime.js";
import { delegatedMark } from "../../scope/scope.js";
import { type ScopeRow, scopeOf } from "../../scope/scope-predicates.js";
import { isNotDelegated } from "../../transcript/list-threads.js";
import { deleteThreadWhile } from "../forgetting/delete-thread-while.js";
import { totalOf } from "../forgetting/erasure-tables.js";
import type { AgeingOptions } from "./lifecycle-options.js";

/** Of one hourly pass: other purges wait for it. */
const maxPerPass = 2_000;
const threadsPerQuery = 100;
/** A tenant with more takes its turn with the others in the next pass. */
const maxCompared = 10_000;

/**
 * Deletes the conversations that nobody went on with for `threads.idleDays`, each as
 * `threads.delete` does, in one transaction under its lock: a message that comes at that moment
 * keeps it. The longest idle first, of each tenant in turn.
 */
export async function deleteIdleThreads({ db, config }: Runtime<AgeingOptions>): Promise<void> {
  const { idleDays } = config.threads;
  if (idleDays === undefined) return;
  for (let deleted = 0; deleted < maxPerPass; ) {
    const threads = await findIdleThreads(db, idleDays);
    let gone = 0;
    for (const { threadId, ...scope } of threads) {
      const mayGo = sql`${isIdle(db, idleDays)} and not ${isWaiting(db)}`;
      const removed = await deleteThreadWhile(db, { scope: scopeOf(scope), threadId }, mayGo);
      if (totalOf(removed) > 0) gone += 1;
    }
    deleted += gone;
    // Those that are left are in use again.
    if (gone === 0 || threads.length < threadsPerQuery) return;
  }
}

async function findIdleThreads(db: Connection, idleDays: number) {
  return db.query<ScopeRow & { threadId: string }>(sql`
    select d.tenant_id, d.user_id, d.app_id, d.thread_id as "threadId" from (
      select t.tenant_id, t.user_id, t.app_id, t.thread_id, t.last_activity_at from ${db.schema}.thread t
      where ${isIdle(db, idleDays)} and ${isNotDelegated} and not ${isWaiting(db)}
        and not exists (
          select from ${db.schema}.thread c
          where c.owner_ref = t.owner_ref and starts_with(c.thread_id, t.thread_id || ${delegatedMark})
            and (not ${isIdle(db, idleDays, "c")} or ${isWaiting(db, "c")})
        )
      order by t.last_activity_at limit ${maxCompared}
    ) d
    order by row_number() over (partition by d.tenant_id order by d.last_activity_at), d.last_activity_at
    limit ${threadsPerQuery}`);
}

/** Whether a thread has been idle for longer. */
export const isIdle = (db: Connection, idleDays: number, thread = "t"): Sql =>
  sql`${raw(thread)}.last_activity_at < ${db.now()} - ${idleDays}::float8 * interval '1 day'`;

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
