import sql from "sql-template-tag";
import { sweepWork, type Worker } from "../jobs/background-work.js";
import { createOwnerTaskWorker, type OwnerTaskClaim } from "../jobs/owner-task.js";
import type { Connection } from "../postgres/connection.js";
import type { ConsolidationRuntime } from "./consolidation-options.js";
import { sweepCompared } from "./pair-statements.js";

/** Owners are looked for once an hour: it reads them all, and nobody waits. */
const markEveryMs = 3_600_000;

/** Most owners marked at a time. What is left is found an hour later; a process works off about as many in an hour. */
const mostMarked = 2_000;

/**
 * The workers that consolidate: one marks owners that changed, in an interval of its own; one does what is due; one removes
 * what was noted of pairs long ago.
 *
 * @param step does one claimed piece of it.
 */
export function createConsolidationWork(
  { db, config }: Pick<ConsolidationRuntime, "db" | "config">,
  step: (claim: OwnerTaskClaim) => Promise<unknown>,
): Worker[] {
  const { everyMs, fingerprintsForMs } = config.consolidation;
  return [
    {
      ...{ intervalMs: markEveryMs, counted: false },
      async due() {
        await markChangedOwners(db, { everyMs, limit: mostMarked });
        return [];
      },
    },
    createOwnerTaskWorker(db, { task: "consolidate", leaseMs: config.upkeep.leaseMs, step }),
    sweepWork("pairs", {
      intervalMs: markEveryMs,
      ...{ name: "Pairs compared long ago", run: () => sweepCompared(db, fingerprintsForMs) },
    }),
  ];
}

/**
 * Marks owners as due that changed since they were consolidated, and were so longer than `everyMs` ago. Tenants take turns:
 * the first owner of each comes before the second of any.
 */
export async function markChangedOwners(
  db: Connection,
  { everyMs, limit }: { readonly everyMs: number; readonly limit: number },
): Promise<void> {
  const { schema } = db;
  await db.query(sql`
    insert into ${schema}.owner_task as k (owner_ref, task, retry_at)
    select c.id, 'consolidate', ${db.now()} - (${limit} - row_number() over (order by c.turn, c.done_at nulls first, c.id)) * interval '1 millisecond'
    from (
      select o.id, d.done_at,
        row_number() over (partition by o.tenant_id order by d.done_at nulls first, o.id) as turn
      from ${schema}.owner o
      left join ${schema}.owner_task d on d.owner_ref = o.id and d.task = 'consolidate'
      where o.memory_count > 1 and (
        d.owner_ref is null or (
          d.retry_at is null and d.lease_until is null and d.done_until < o.tick
            and (d.done_at is null or d.done_at <= ${db.now()} - ${everyMs}::float8 * interval '1 millisecond')
        )
      )
      order by turn, d.done_at nulls first, o.id limit ${limit}
    ) c
    on conflict (owner_ref, task) do update set retry_at = excluded.retry_at
      where k.retry_at is null and k.lease_until is null`);
}
