import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import type { LockedOwner } from "../../scope/scope-predicates.js";
import { recordChanges } from "../changes/record-changes.js";
import { type MemoryJson, memoryJson, memoryOf } from "../item/memory-row.js";
import { hideMemories } from "./memory-states.js";

export const lifecycleActor = "worker:lifecycle";

export function isExpired(db: Connection) {
  return sql`m.state = 'active' and m.expires_at <= ${db.now()}`;
}

/**
 * Hides expired memories of a locked owner, which frees their slots and texts. Returns how many. By
 * default at most 10,000: more than expire between two writes.
 */
export async function expireMemories(
  tx: Connection,
  input: {
    owner: Pick<LockedOwner, "ref">;
    scope: Scope;
    purgeAfterMs: number;
    vectors: boolean;
    limit?: number;
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
  const how = { ownerRef: owner.ref, vectors, purgeAfterMs, event: "TTL" } as const;
  const changes = await hideMemories(tx, how, memories, ({ expiresAt }) => ({ expiresAt }));
  await recordChanges(tx, {
    ownerRef: owner.ref,
    scope,
    actor: lifecycleActor,
    step: "lifecycle",
    changes,
  });
  return memories.length;
}
