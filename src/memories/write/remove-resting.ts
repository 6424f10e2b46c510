import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import type { MemoryChange } from "../changes/record-changes.js";
import { type MemoryJson, memoryJson, memoryOf } from "../item/memory-row.js";
import { hideMemories } from "./memory-states.js";

/** Type of the links from an insight to its evidence. */
export const evidenceLink = "evidence";

/** Hides unpinned insights whose evidence is in `removed`, or was merged into it. */
export async function removeResting(
  tx: Connection,
  input: { ownerRef: OwnerRef; removed: readonly string[]; purgeAfterMs: number; vectors: boolean },
): Promise<MemoryChange[]> {
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
    where m.kind = 'insight' and m.state = 'active' and not m.pinned
    order by m.ref`,
    { prepare: true },
  );
  const found = new Map(rows.map(({ memory, restedOn }) => [memoryOf(memory), restedOn]));
  return hideMemories(tx, { ...input, event: "DELETE" }, [...found.keys()], (each) => ({
    restedOn: found.get(each),
  }));
}
