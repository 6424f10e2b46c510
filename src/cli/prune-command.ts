import type { Pruned } from "../checkpoints/prune-checkpoints.js";
import { type MemoryFlags, type ScopeFlags, scopeOf, useMemory } from "./memory-flags.js";
import { progressBar } from "./output.js";

/** Flags of `prune`. */
export interface PruneFlags extends MemoryFlags, ScopeFlags {
  readonly keepLast: number;
  readonly olderThan?: number;
  readonly thread?: string;
  readonly dryRun?: true;
}

/** `mnemograph prune`: deletes superseded checkpoints of LangGraph. */
export async function pruneCommand(flags: PruneFlags): Promise<void> {
  const { keepLast, olderThan, thread, dryRun, tenant, user, app } = flags;
  const scoped = [tenant, user, app].some((id) => id !== undefined);
  const pruned = await useMemory(flags, async (memory) => {
    const options = { keepLast, olderThan, threadId: thread, ...(scoped && { scope: scopeOf(flags) }) };
    const { checkpoints, writes, blobs } = await memory.checkpoints.prune({ ...options, dryRun: true });
    const total = checkpoints + writes + blobs;
    if (dryRun) return memory.checkpoints.prune({ ...options, dryRun });
    const bar = progressBar(flags);
    const onProgress = (gone: Pruned) =>
      bar.update({ done: gone.checkpoints + gone.writes + gone.blobs, total });
    return memory.checkpoints.prune({ ...options, onProgress }).finally(bar.stop);
  });
  if (flags.json) console.log(JSON.stringify(pruned));
  else console.log(describe(pruned, dryRun === true));
}

function describe({ threads, waiting, checkpoints, writes, blobs, bytes }: Pruned, dryRun: boolean): string {
  const verb = dryRun ? "Would prune" : "Pruned";
  const left =
    waiting > 0 ? ` ${waiting} of them wait for an answer or for a run to go on, and were left alone.` : "";
  return (
    `${verb} ${checkpoints} checkpoints, ${writes} writes and ${blobs} values ` +
    `(${(bytes / 1_000_000).toFixed(1)} MB) of ${threads} threads.${left}`
  );
}
