import { lockOwnerRow } from "../forgetting/erase-statements.js";
import type { Job, Worker } from "../jobs/background-work.js";
import { type ChangeEvent, changeLine } from "../memories/changes/change-line.js";
import { type HistoryEvent, type MemoryChange, recordChanges } from "../memories/changes/record-changes.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { versionOf } from "../memories/item/memory-fields.js";
import { lifecycleActor as actor, expireMemories } from "../memories/write/expire-memories.js";
import { deactivateMemories, purgeMemories } from "../memories/write/memory-states.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef } from "../scope/scope.js";
import { trimRecords } from "../usage/usage-statements.js";
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

/** The lifecycle as background work: what expired or was not used is hidden, what was hidden long ago deleted. Needs no model. */
export function createLifecycle(deps: LifecycleRuntime): {
  readonly work: Worker;
  /** Deletes news, events, and what calls of models took, that are older than anybody needs. */
  readonly trimming: Worker;
} {
  const options = deps.config.lifecycle;
  const usage: Job = {
    ...{ name: "Old usage and events", ticket: { work: "usage" } },
    run: () => trimRecords(deps.db),
  };
  return {
    work: {
      intervalMs,
      async due(limit) {
        const owners = await findLifecycleOwners(deps.db, { options, limit });
        return owners.map(({ ref }) => agingOf(deps, ref));
      },
      works: ["lifecycle"],
      at: ({ ref = 0 }) => agingOf(deps, ref),
    },
    trimming: {
      intervalMs,
      counted: false,
      async due(limit) {
        const owners = await findOwnersToTrim(deps.db, { limit });
        return [...owners.map((ref) => trimmingOf(deps, ref)), usage];
      },
      works: ["changes", "usage"],
      at: ({ work, ref = 0 }) => (work === "usage" ? usage : trimmingOf(deps, ref)),
    },
  };
}

function agingOf(deps: LifecycleRuntime, ref: OwnerRef): Job {
  return {
    ...{ name: `Lifecycle of owner ${ref}`, ticket: { work: "lifecycle", ref } },
    async run() {
      const owner = await findLifecycleOwner(deps.db, ref);
      if (owner) await ageOwner(deps, owner);
    },
  };
}

function trimmingOf(deps: LifecycleRuntime, ref: OwnerRef): Job {
  return {
    ...{ name: `Old changes of owner ${ref}`, ticket: { work: "changes", ref } },
    run: async () => void (await inBatches(deps, ref, trim)),
  };
}

/** All that is due of one owner, a batch in each transaction. */
async function ageOwner(deps: LifecycleRuntime, owner: LifecycleOwner): Promise<void> {
  await inBatches(deps, owner.ref, (_, tx) => expire(deps, tx, owner));
  await inBatches(deps, owner.ref, (_, tx) => softDelete(deps, tx, owner));
  await inBatches(deps, owner.ref, (_, tx) => purge(deps, tx, owner));
}

type Batch = (deps: LifecycleRuntime, tx: Connection, ownerRef: OwnerRef) => Promise<number>;

async function inBatches(deps: LifecycleRuntime, ownerRef: OwnerRef, batch: Batch): Promise<number> {
  let total = 0;
  for (;;) {
    const done = await deps.db.transaction(async (tx) => {
      // One process at a time; the next finds what this one left.
      // Not `lockOwner`, which would make the owner anew that was forgotten meanwhile.
      return (await lockOwnerRow(tx, String(ownerRef))) ? batch(deps, tx, ownerRef) : 0;
    });
    total += done;
    if (done < batchSize) return total;
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
  { ref: ownerRef, scope }: LifecycleOwner,
): Promise<number> {
  const options = deps.config.lifecycle;
  const { purgeAfterMs } = options;
  const memories = await findDueMemories(tx, "aged", { ownerRef, options });
  if (memories.length === 0) return 0;
  await deactivateMemories(tx, {
    ownerRef,
    changes: memories.map(({ id }) => ({
      ...{ id, state: "soft_deleted", supersededBy: null, validTo: null, purgeAfterMs },
    })),
    vectors: deps.embedder !== null,
  });
  await recordChanges(tx, {
    ...{ ownerRef, scope, actor, step: "lifecycle" },
    changes: memories.map((memory) => {
      const hidden = { state: "soft_deleted", lastAccessedAt: memory.lastAccessedAt };
      return changeOf(memory, { event: "TTL", news: "soft_deleted", now: hidden });
    }),
  });
  return memories.length;
}

async function purge(
  deps: LifecycleRuntime,
  tx: Connection,
  { ref: ownerRef, scope }: LifecycleOwner,
): Promise<number> {
  const memories = await findDueMemories(tx, "purge", { ownerRef, options: deps.config.lifecycle });
  if (memories.length === 0) return 0;
  await recordChanges(tx, {
    ...{ ownerRef, scope, actor, step: "lifecycle" },
    changes: memories.map((memory) =>
      changeOf(memory, { event: "DELETE", news: "deleted", now: { state: "purged" } }),
    ),
  });
  await purgeMemories(tx, { ownerRef, ids: memories.map(({ id }) => id) });
  return memories.length;
}

const trim: Batch = (_, tx, ownerRef) => trimChanges(tx, ownerRef);

function changeOf(
  memory: MemoryItem,
  { event, news, now }: { event: HistoryEvent; news: ChangeEvent; now: object },
): MemoryChange {
  const { id, category, importance, state } = memory;
  return {
    ...{ memoryId: id, category, event, similarity: null },
    ...{ old: { ...versionOf(memory), state }, new: now },
    news: { event: news, line: changeLine(news, memory), importance },
  };
}
