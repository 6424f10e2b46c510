import sql from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { AppScope, ThreadRef } from "../scope/scope.js";
import { scopeColumns, withinScope } from "../scope/scope-predicates.js";

const endedReason = "uninstalled";

/** Conversations ended by one statement, which locks them for some milliseconds. */
const atOnce = 500;

export type EndedThreads = { readonly count: number; readonly due: readonly ThreadRef[] };

/** Ends all open conversations of an app. With `leaveNotes` their pending notes become due. */
export async function endAppThreads(
  db: Connection,
  { scope, leaveNotes }: { readonly scope: AppScope; readonly leaveNotes: boolean },
): Promise<EndedThreads> {
  const { schema } = db;
  let count = 0;
  const due: ThreadRef[] = [];
  for (let ended = atOnce; ended === atOnce; ) {
    const rows = await db.query<{ id: string; due: boolean }>(sql`
      with going_on as (
        select t.id from ${schema}.thread t
        where ${withinScope(scopeColumns(scope), "t")} and t.ended_at is null
        order by t.id limit ${atOnce} for no key update
      ),
      due as (
        update ${schema}.work k set retry_at = ${db.now()}
        from going_on g where k.thread_ref = g.id and k.kind = 'notes' and k.given_up_at is null
          and k.attempts = 0 and k.retry_at is not null and ${leaveNotes}::boolean
        returning k.thread_ref
      )
      update ${schema}.thread t set ended_at = ${db.now()}, ended_reason = ${endedReason}, closing_until = null
      from going_on g where t.id = g.id
      returning t.id, t.id in (select thread_ref from due) as due`);
    ended = rows.length;
    count += ended;
    due.push(...rows.filter((row) => row.due).map(({ id }) => Number(id)));
  }
  return { count, due };
}

/** Skips notes about everything until now; workers lose their lease. */
export async function skipAppNotes(db: Connection, scope: AppScope): Promise<void> {
  const { schema } = db;
  await db.query(sql`
    update ${schema}.work k
    set retry_at = null, lease_until = null, attempts = 0, error = null, done_until = greatest(k.done_until, coalesce((
      select m.seq from ${schema}.message m where m.thread_ref = k.thread_ref order by m.seq desc limit 1
    ), -1))
    from ${schema}.thread t
    where t.id = k.thread_ref and k.kind = 'notes' and k.given_up_at is null and ${withinScope(scopeColumns(scope), "t")}`);
}
