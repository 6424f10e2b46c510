import { lockOwnerRow } from "../forgetting/erase-statements.js";
import { defineWork } from "../jobs/define-work.js";
import { changeLine } from "../memories/changes/change-line.js";
import { type MemoryChange, recordChanges } from "../memories/changes/record-changes.js";
import { versionOf } from "../memories/item/memory-fields.js";
import { lifecycleActor as actor, expireMemories } from "../memories/write/expire-memories.js";
import { hideMemories, purgeMemories } from "../memories/write/memory-states.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef } from "../scope/scope.js";
import {
  batchSize,
  findDueMemories,
  findLifecycleOwner,
  findLifecycleOwners,
  findOwnersToTrim,
  intervalMs,
  type LifecycleOwner,
  type LifecycleRuntime,
  trimChanges,
} from "./lifecycle-work.js";

/** Hides expired and long unused memories, and purges memories hidden long ago. */
export function defineLifecycle(deps: LifecycleRuntime) {
  const options = deps.config.lifecycle;
  return defineWork({
    kind: "lifecycle",
    everyMs: intervalMs,
    due: (limit) => findLifecycleOwners(deps.db, options, limit),
    async run(ref) {
      const owner = await findLifecycleOwner(deps.db, ref);
      if (!owner) return;
      for (const step of [expire, softDelete, purge])
        await inBatches(deps, ref, (tx) => step(deps, tx, owner));
    },
  });
}

const ownersPerQuery = 100;

export async function trimOldChanges(deps: LifecycleRuntime): Promise<void> {
  for (;;) {
    const owners = await findOwnersToTrim(deps.db, ownersPerQuery);
    for (const ref of owners) await inBatches(deps, ref, (tx) => trimChanges(tx, ref));
    if (owners.length < ownersPerQuery) return;
  }
}

async function inBatches(
  deps: LifecycleRuntime,
  ownerRef: OwnerRef,
  batch: (tx: Connection) => Promise<number>,
): Promise<void> {
  for (;;) {
    const done = await deps.db.transaction(async (tx) => {
      // `lockOwner` would recreate an owner that was forgotten meanwhile.
      return (await lockOwnerRow(tx, String(ownerRef))) ? batch(tx) : 0;
    });
    if (done < batchSize) return;
  }
}

function expire(deps: LifecycleRuntime, tx: Connection, owner: LifecycleOwner): Promise<number> {
  const { purgeAfterMs } = deps.config.lifecycle;
  const vectors = deps.embedder !== null;
  return expireMemories(tx, { owner, scope: owner.scope, purgeAfterMs, vectors, limit: batchSize });
}

async function softDelete(
  deps: LifecycleRuntime,
  tx: Connection,
  owner: LifecycleOwner,
): Promise<number> {
  const { ref: ownerRef, scope } = owner;
  const options = deps.config.lifecycle;
  const memories = await findDueMemories(tx, "aged", { ownerRef, options });
  if (memories.length === 0) return 0;
  const { purgeAfterMs } = options;
  const how = { ownerRef, vectors: deps.embedder !== null, purgeAfterMs, event: "TTL" } as const;
  const changes = await hideMemories(tx, how, memories, ({ lastAccessedAt }) => ({
    lastAccessedAt,
  }));
  await recordChanges(tx, { ownerRef, scope, actor, step: "lifecycle", changes });
  return memories.length;
}

async function purge(
  deps: LifecycleRuntime,
  tx: Connection,
  owner: LifecycleOwner,
): Promise<number> {
  const { ref: ownerRef, scope } = owner;
  const memories = await findDueMemories(tx, "purge", { ownerRef, options: deps.config.lifecycle });
  if (memories.length === 0) return 0;
  const changes = memories.map((memory): MemoryChange => {
    const { id: memoryId, category, state, importance } = memory;
    const delta = { event: "deleted", line: changeLine("deleted", memory), importance } as const;
    return {
      memoryId,
      category,
      event: "DELETE",
      old: { ...versionOf(memory), state },
      new: { state: "purged" },
      delta,
    };
  });
  await recordChanges(tx, { ownerRef, scope, actor, step: "lifecycle", changes });
  const ids = memories.map(({ id }) => id);
  await purgeMemories(tx, ownerRef, ids);
  return memories.length;
}
