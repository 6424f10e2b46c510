import sql from "sql-template-tag";
import { sweepWork, type Worker } from "../jobs/background-work.js";
import { dailyTimes } from "../jobs/daily-time.rule.js";
import { createOwnerTaskWorker, type OwnerTaskClaim } from "../jobs/owner-task.js";
import type { Connection } from "../postgres/connection.js";
import { type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import { type ConsolidationRuntime, everyMs, fingerprintsForMs } from "./consolidation-options.js";
import { sweepCompared } from "./pair-statements.js";

/** Owners are looked for once an hour: it reads them all, and nobody waits. */
const markEveryMs = 3_600_000;

/** Most owners marked at a time. What is left is found an hour later, most of it before its time has come. */
const mostMarked = 10_000;

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
  return [
    {
      ...{ intervalMs: markEveryMs, counted: false },
      async due() {
        await markChangedOwners(db, mostMarked);
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
 * Marks owners that changed since they were consolidated as due at their tenant's next time. Tenants take turns: the first
 * owner of each is marked before the second of any.
 */
export async function markChangedOwners(db: Connection, limit: number): Promise<void> {
  const changed = await findChangedOwners(db, limit);
  const [first] = changed;
  if (!first) return;
  const owners = changed.map(({ done_at, ...row }) => ({
    scope: scopeOf(row),
    doneAtMs: done_at?.getTime() ?? null,
  }));
  const times = dailyTimes(owners, everyMs, first.now.getTime()).map((ms) => new Date(ms));
  await db.query(sql`
    insert into ${db.schema}.owner_task as k (owner_ref, task, retry_at)
    select due.owner_ref, 'consolidate', due.at
    from unnest(${changed.map(({ id }) => id)}::bigint[], ${times}::timestamptz[]) due (owner_ref, at)
    join ${db.schema}.owner o on o.id = due.owner_ref
    on conflict (owner_ref, task) do update set retry_at = excluded.retry_at
      where k.retry_at is null and k.lease_until is null`);
}

async function findChangedOwners(db: Connection, limit: number) {
  const { schema } = db;
  return db.query<ScopeRow & { id: string; done_at: Date | null; now: Date }>(sql`
    select c.id, c.tenant_id, c.user_id, c.app_id, c.done_at, ${db.now()} as now
    from (
      select o.id, o.tenant_id, o.user_id, o.app_id, d.done_at,
        row_number() over (partition by o.tenant_id order by d.done_at nulls first, o.id) as turn
      from ${schema}.owner o
      left join ${schema}.owner_task d on d.owner_ref = o.id and d.task = 'consolidate'
      where o.memory_count > 1 and (
        d.owner_ref is null or (d.retry_at is null and d.lease_until is null and d.done_until < o.tick)
      )
    ) c
    order by c.turn, c.done_at nulls first, c.id limit ${limit}`);
}
