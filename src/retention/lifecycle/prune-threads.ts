import sql from "sql-template-tag";
import { checkpointTableNames, existingTables } from "../../checkpoints/checkpoint-names.js";
import { pruneThread } from "../../checkpoints/prune-checkpoints.js";
import { insertEvents, type MemoryEvent } from "../../observability/events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import type { Runtime } from "../../runtime.js";
import type { AgeingOptions } from "./lifecycle-options.js";

/** Of one hourly pass. */
const mostPerPass = 1_000;

/**
 * Deletes the checkpoints that threads no longer need, by `checkpoints.keep`: of those with the most
 * first, of each tenant in turn. Only threads of `memory.checkpointer()`, beside which graphs may
 * run. One event a tenant says how many went.
 */
export async function pruneThreads({ db, config }: Runtime<AgeingOptions>): Promise<void> {
  const { keep } = config.checkpoints;
  const tables = checkpointTableNames.map((table) => ({ table }));
  if (keep === undefined || (await existingTables(db, tables)).length === 0) return;
  const gone = new Map<
    string,
    { threads: number; checkpoints: number; writes: number; blobs: number }
  >();
  for (const { tenantId, name } of await findLongThreads(db, keep)) {
    const before = sql`'infinity'::timestamptz`;
    const pruned = await pruneThread(db, name, { keepLast: keep, before, keepBranches: true });
    if (pruned.checkpoints === 0) continue;
    const sum = gone.get(tenantId) ?? { threads: 0, checkpoints: 0, writes: 0, blobs: 0 };
    sum.threads += 1;
    sum.checkpoints += pruned.checkpoints;
    sum.writes += pruned.writes;
    sum.blobs += pruned.blobs;
    gone.set(tenantId, sum);
  }
  const events = [...gone].map(([tenantId, counts]): MemoryEvent => {
    const detail = Object.entries(counts).map(([what, count]) => `${what}=${count}`);
    const scope = tenantId === "" ? {} : { tenantId };
    return { scope, step: "lifecycle", op: "delete", status: "ok", detail: detail.join(" ") };
  });
  await insertEvents(db, events);
}

async function findLongThreads(db: Connection, keep: number) {
  return db.query<{ tenantId: string; name: string }>(sql`
    select t.tenant_id as "tenantId", l.name from (
      select c.thread_id as name, count(*) as count from ${db.schema}.checkpoints c
      where c.checkpoint_ns = '' group by c.thread_id having count(*) > ${keep}::bigint
    ) l
    join ${db.schema}.thread t on t.checkpoint_name = l.name
    order by row_number() over (partition by t.tenant_id order by l.count desc), l.count desc
    limit ${mostPerPass}`);
}
