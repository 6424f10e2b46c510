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

/** The actor of expiry and aging in the audit trail. */
export const lifecycleActor = "worker:lifecycle";

/** Whether the memory `m` has expired and no sweep has hidden it yet. */
export function isExpired(db: Connection) {
  return sql`m.state = 'active' and m.expires_at <= ${db.now()}`;
}

/**
 * Removes expired memories of a locked owner, at most `limit`, so that none holds a slot or repeats a new
 * text. They can be restored as others. Returns how many. One statement where none has expired, which is
 * usual.
 */
export async function expireMemories(
  tx: Connection,
  input: {
    readonly owner: Pick<LockedOwner, "ref">;
    readonly scope: Scope;
    readonly purgeAfterMs: number;
    readonly vectors: boolean;
    /** @default 10,000, more than expire between two writes */
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
