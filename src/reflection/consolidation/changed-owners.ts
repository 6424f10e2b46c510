import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { type ScopeRow, scopeOf } from "../../scope/scope-predicates.js";
import { everyMs } from "./consolidation-options.js";
import { dailyTimes } from "./daily-time.rule.js";

/** Later runs, an hour apart, find the others, mostly before they are due. */
export const maxMarked = 10_000;

/** Schedules changed owners at their tenant's next time; tenants take turns. */
export async function markChangedOwners(db: Connection, limit: number): Promise<void> {
  const changed = await findChangedOwners(db, limit);
  const [first] = changed;
  if (!first) return;
  const owners = changed.map((row) => ({
    scope: scopeOf(row),
    doneAtMs: row.done_at?.getTime() ?? null,
  }));
  const times = dailyTimes(owners, everyMs, first.now.getTime()).map((ms) => new Date(ms));
  await db.query(sql`
    insert into ${db.schema}.work as k (kind, owner_ref, done_until, retry_at)
    select 'consolidation', due.owner_ref, 0, due.at
    from unnest(${changed.map(({ id }) => id)}::bigint[], ${times}::timestamptz[]) due (owner_ref, at)
    join ${db.schema}.owner o on o.id = due.owner_ref
    on conflict (owner_ref, kind) where given_up_at is null do update set retry_at = excluded.retry_at
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
      left join ${schema}.work d on d.owner_ref = o.id and d.kind = 'consolidation' and d.given_up_at is null
      where o.memory_count > 1 and (
        d.owner_ref is null or (d.retry_at is null and d.lease_until is null and d.done_until < o.revision)
      )
    ) c
    order by c.turn, c.done_at nulls first, c.id limit ${limit}`);
}
