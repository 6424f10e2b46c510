import sql, { type Sql } from "sql-template-tag";
import { dayMs } from "../../clock.js";
import type { Connection } from "../../postgres/connection.js";
import type { Database } from "../../postgres/database.js";
import type { OwnerRef } from "../../scope/scope.js";
import { batchRows, repeatBatches } from "./lifecycle.js";

/** Half a year: threads in use have seen older changes. The audit trail keeps everything. */
const keepChangesMs = 180 * dayMs;
const ownersPerQuery = 100;

export async function trimOldChanges(db: Database): Promise<void> {
  for (;;) {
    const owners = await db.query<{ ref: OwnerRef }>(sql`
      select distinct c.owner_ref::float8 as ref from ${db.schema}.change_log c
      where ${isOld(db)} limit ${ownersPerQuery}`);
    for (const { ref } of owners) await repeatBatches(db, ref, (tx) => trimChanges(tx, ref));
    if (owners.length < ownersPerQuery) return;
  }
}

/**
 * Deletes a batch of a locked owner's old changes, and records the last revision. Returns how many.
 */
async function trimChanges(tx: Connection, ownerRef: OwnerRef): Promise<number> {
  const { schema } = tx;
  const [row] = await tx.query<{ trimmed: number }>(sql`
    with last as (
      select max(rev) as rev from (
        select c.rev from ${schema}.change_log c
        where c.owner_ref = ${ownerRef} and ${isOld(tx)} order by c.rev limit ${batchRows}
      ) oldest
    ),
    -- Without gaps: every change up to that revision.
    gone as (
      delete from ${schema}.change_log c using last
      where c.owner_ref = ${ownerRef} and c.rev <= last.rev
      returning 1
    ),
    noted as (
      update ${schema}.owner o set changes_trimmed_to = greatest(o.changes_trimmed_to, last.rev)
      from last where o.id = ${ownerRef} and last.rev is not null
    )
    select count(*)::int as trimmed from gone`);
  return row?.trimmed ?? 0;
}

const isOld = (db: Connection): Sql =>
  sql`c.created_at < ${db.now()} - ${keepChangesMs}::float8 * interval '1 millisecond'`;
