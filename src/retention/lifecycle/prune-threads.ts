import sql from "sql-template-tag";
import { hasCheckpoints } from "../../checkpoints/checkpoint-names.js";
import { pruneThread } from "../../checkpoints/prune-checkpoints.js";
import { insertEvent } from "../../observability/events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import type { Runtime } from "../../runtime.js";
import { type ScopeRow, scopeOf } from "../../scope/scope-predicates.js";
import type { AgeingOptions } from "./lifecycle-options.js";

/** Of one hourly pass. */
const maxPerPass = 1_000;

/**
 * Deletes the checkpoints that threads no longer need, by `checkpoints.keep`: of those with the most
 * first, of each tenant in turn. Only threads of `memory.checkpointer()`, beside which graphs may
 * run. An event of each says how many went.
 */
export async function pruneThreads({ db, config }: Runtime<AgeingOptions>): Promise<void> {
  const { keep } = config.checkpoints;
  if (keep === undefined || !(await hasCheckpoints(db))) return;
  for (const { name, threadId, ...scope } of await findLongThreads(db, keep)) {
    const pruned = await pruneThread(db, name, { keepLast: keep, keepBranches: true });
    if (pruned.checkpoints === 0) continue;
    const counts = Object.entries(pruned).map(([table, count]) => `${table}=${count}`);
    const event = { scope: scopeOf(scope), threadId, step: "lifecycle", op: "delete" } as const;
    await insertEvent(db, { ...event, status: "ok", detail: counts.join(" ") });
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
    limit ${maxPerPass}`);
}
