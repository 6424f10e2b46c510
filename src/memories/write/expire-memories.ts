import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { applyChanges } from "../apply/apply-changes.js";
import { type Changer, hideMemories } from "../apply/change-set.js";
import { findOwned } from "../item/memory-row.js";

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
  owner: Pick<Changer, "ownerRef" | "scope" | "hasVectors">,
  { purgeAfterMs, limit = 10_000 }: { readonly purgeAfterMs: number; readonly limit?: number },
): Promise<number> {
  const end = sql`limit ${limit} for update of m`;
  const memories = await findOwned(tx, owner.ownerRef, isExpired(tx), end);
  const by = { ...owner, actor: lifecycleActor, step: "lifecycle" } as const;
  const hidden = hideMemories(memories, { purgeAfterMs }, "TTL", ({ expiresAt }) => ({
    expiresAt,
  }));
  await applyChanges(tx, by, hidden);
  return memories.length;
}
