import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import { type ChangeSet, evidenceLink, hideMemories } from "../apply/change-set.js";
import { type MemoryJson, memoryJson, memoryOf } from "../item/memory-row.js";

/** Hides unpinned insights, others than `removed`, whose evidence is there or was merged into it. */
export async function hideResting(
  tx: Connection,
  input: {
    readonly ownerRef: OwnerRef;
    readonly removed: readonly string[];
    readonly purgeAfterMs: number;
  },
): Promise<Pick<ChangeSet, "deactivated" | "changes">> {
  const { ownerRef, removed } = input;
  const rows = await tx.query<{ memory: MemoryJson; restedOn: string }>(
    sql`
    with recursive gone as (
      select m.ref, m.id, m.id as removed from ${tx.schema}.memory m
      where m.owner_ref = ${ownerRef} and m.id = any (${removed}::uuid[])
      union
      select m.ref, m.id, g.removed from gone g
      join ${tx.schema}.memory m on m.superseded_by = g.id and m.owner_ref = ${ownerRef} and m.state = 'merged'
    ),
    resting as (
      select r.from_ref as ref, min(g.removed::text) as removed
      from gone g join ${tx.schema}.relation r on r.to_ref = g.ref and r.relation_type = ${evidenceLink}
      group by r.from_ref
    )
    select ${memoryJson(tx)} as memory, resting.removed as "restedOn"
    from resting join ${tx.schema}.memory m on m.ref = resting.ref
    where m.kind = 'insight' and m.state = 'active' and not m.pinned and m.id <> all (${removed}::uuid[])
    order by m.ref`,
    { prepare: true },
  );
  const found = new Map(rows.map(({ memory, restedOn }) => [memoryOf(memory), restedOn]));
  return hideMemories([...found.keys()], input, "DELETE", (each) => ({
    restedOn: found.get(each),
  }));
}
