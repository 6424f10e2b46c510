import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import type { LockedOwner } from "../../scope/scope-predicates.js";
import { changeLine } from "../changes/change-line.js";
import { type MemoryChange, recordChanges } from "../changes/record-changes.js";
import type { MemoryItem } from "../item/memory.js";
import { versionOf } from "../item/memory-fields.js";
import { type MemoryJson, memoryJson, memoryOf } from "../item/memory-row.js";
import { deactivateMemories } from "./memory-states.js";

/** How the audit trail names who hides what expired, and what ages. */
export const lifecycleActor = "worker:lifecycle";

/** Whether the time of the memory `m` is over, and nothing has hidden it for good yet. */
export function isExpired(db: Connection) {
  return sql`m.state = 'active' and m.expires_at <= ${db.now()}`;
}

/**
 * Makes what has expired of a locked owner's memories removed ones, at most `limit`, so that none of them holds a slot or
 * stands for what is said anew. They can be restored for as long as others that were removed. Returns how many.
 *
 * One statement where nothing has expired, which is nearly always.
 */
export async function expireMemories(
  tx: Connection,
  input: {
    readonly owner: Pick<LockedOwner, "ref">;
    readonly scope: Scope;
    readonly purgeAfterMs: number;
    /** Whether there surely are vectors. */
    readonly vectors: boolean;
    /** @default 10,000: all there are, but for what nobody has */
    readonly limit?: number;
  },
): Promise<number> {
  const { owner, scope, purgeAfterMs, vectors, limit = 10_000 } = input;
  const rows = await tx.query<{ memory: MemoryJson }>(sql`
    select ${memoryJson(tx)} as memory from ${tx.schema}.memory m
    where m.owner_ref = ${owner.ref} and ${isExpired(tx)}
    order by m.ref limit ${limit}
    for update of m`);
  if (rows.length === 0) return 0;
  const memories = rows.map((row) => memoryOf(row.memory));
  await deactivateMemories(tx, {
    ownerRef: owner.ref,
    changes: memories.map(({ id }) => ({
      ...{ id, state: "soft_deleted", supersededBy: null, validTo: null, purgeAfterMs },
    })),
    vectors,
  });
  await recordChanges(tx, {
    ...{ ownerRef: owner.ref, scope, actor: lifecycleActor, step: "lifecycle" },
    changes: memories.map(expiry),
  });
  return memories.length;
}

function expiry(memory: MemoryItem): MemoryChange {
  const { id, category, importance, expiresAt } = memory;
  return {
    ...{ memoryId: id, category, event: "TTL", similarity: null },
    ...{ old: { ...versionOf(memory), state: "active" }, new: { state: "soft_deleted", expiresAt } },
    news: { event: "soft_deleted", line: changeLine("soft_deleted", memory), importance },
  };
}
