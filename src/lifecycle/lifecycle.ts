import { lockOwnerRow } from "../forgetting/erase-statements.js";
import type { Work } from "../jobs/define-work.js";
import { applyChanges } from "../memories/apply/apply-changes.js";
import { hideMemories } from "../memories/apply/change-set.js";
import { changeOf } from "../memories/changes/memory-change.js";
import { versionOf } from "../memories/item/memory-fields.js";
import { lifecycleActor as actor, expireMemories } from "../memories/write/expire-memories.js";
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
export function defineLifecycle(deps: LifecycleRuntime): Work {
  const options = deps.config.lifecycle;
  return {
    kind: "lifecycle",
    everyMs: intervalMs,
    due: (limit) => findLifecycleOwners(deps.db, options, limit),
    async run({ ref }) {
      const owner = await findLifecycleOwner(deps.db, ref);
      if (!owner) return;
      for (const step of [expire, softDelete, purge])
        await inBatches(deps, ref, (tx) => step(deps, tx, owner));
    },
  };
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

const changerOf = ({ embedder }: LifecycleRuntime, { ref, scope }: LifecycleOwner) =>
  ({ ownerRef: ref, scope, actor, step: "lifecycle", hasVectors: embedder !== null }) as const;

function expire(deps: LifecycleRuntime, tx: Connection, owner: LifecycleOwner): Promise<number> {
  const { purgeAfterMs } = deps.config.lifecycle;
  return expireMemories(tx, changerOf(deps, owner), { purgeAfterMs, limit: batchSize });
}

async function softDelete(
  deps: LifecycleRuntime,
  tx: Connection,
  owner: LifecycleOwner,
): Promise<number> {
  const options = deps.config.lifecycle;
  const memories = await findDueMemories(tx, "aged", { ownerRef: owner.ref, options });
  const hidden = hideMemories(memories, options, "TTL", ({ lastAccessedAt }) => ({
    lastAccessedAt,
  }));
  await applyChanges(tx, changerOf(deps, owner), hidden);
  return memories.length;
}

async function purge(
  deps: LifecycleRuntime,
  tx: Connection,
  owner: LifecycleOwner,
): Promise<number> {
  const options = deps.config.lifecycle;
  const memories = await findDueMemories(tx, "purge", { ownerRef: owner.ref, options });
  const changes = memories.map((memory) =>
    changeOf(memory, "DELETE", {
      old: { ...versionOf(memory), state: memory.state },
      new: { state: "purged" },
      as: "deleted",
    }),
  );
  await applyChanges(tx, changerOf(deps, owner), { changes, purged: memories.map(({ id }) => id) });
  return memories.length;
}
