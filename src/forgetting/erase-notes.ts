import sql from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { ErasureScope } from "../scope/erasure-scope.js";
import { type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import { eraseFound, findErasableByIds, forgetting, lockOwnerRow } from "./erase-statements.js";
import type { ErasureTable, RowCounts } from "./erasure-tables.js";

/**
 * Deletes the notes of locked threads, the notes they were merged into, and their audit trail.
 * Locks the apps, and records the deletions for the apps' other threads.
 */
export async function eraseNotes(
  tx: Connection,
  {
    threads,
    scope,
    tables,
  }: { threads: readonly string[]; scope: ErasureScope; tables: readonly ErasureTable[] },
): Promise<RowCounts> {
  const counts: RowCounts = {};
  for (const { owner_ref: ownerRef, ids, ...row } of await findNotesOf(tx, threads)) {
    // Every writer of the app's memories takes this lock first.
    await lockOwnerRow(tx, ownerRef);
    const found = await findErasableByIds(tx, ownerRef, ids);
    const input = { scope, owner: scopeOf(row), ownerRef, found, ids, tables, audit: forgetting };
    for (const [table, rows] of Object.entries(await eraseFound(tx, input)))
      counts[table] = (counts[table] ?? 0) + rows;
    // Reasons for other notes may quote deleted ones.
    await tx.query(sql`
      update ${tx.schema}.history h set new = h.new - 'reason'
      where h.owner_ref = ${ownerRef}::bigint and h.actor = 'worker:compaction' and h.new ? 'reason'`);
  }
  return counts;
}

function findNotesOf(tx: Connection, threads: readonly string[]) {
  return tx.query<ScopeRow & { owner_ref: string; ids: string[] }>(sql`
    select n.owner_ref::text as owner_ref, o.tenant_id, o.user_id, o.app_id, array_agg(distinct n.memory_id::text) as ids
    from ${tx.schema}.note_source n join ${tx.schema}.owner o on o.id = n.owner_ref
    where n.thread_ref = any (${threads}::bigint[])
      -- An operator's own words stay, even if a conversation said the same.
      and not exists (
        select from ${tx.schema}.memory m where m.owner_ref = n.owner_ref and m.id = n.memory_id and m.trust = 'operator'
          and m.origin in ('operator', 'unknown')
      )
    group by n.owner_ref, o.tenant_id, o.user_id, o.app_id order by n.owner_ref`);
}
