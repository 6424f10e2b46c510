import { InvalidArgumentError } from "commander";
import type { Pruned } from "../checkpoints/prune-checkpoints.js";
import { dayMs } from "../clock.js";
import { type CliCommand, type MemoryFlags, wholeNumber, withDatabase } from "./flags.js";
import { print, progressBar } from "./output.js";
import { useMemory } from "./use-memory.js";

/** `mnemograph prune`: deletes superseded checkpoints of LangGraph. */
export const pruneCommand: CliCommand = {
  name: "prune",
  description: "delete superseded checkpoints of LangGraph",
  examples: [["prune --keep-last 5 --older-than 30d", "superseded checkpoints of LangGraph"]],
  flags: (command) =>
    withDatabase(command)
      .requiredOption("--keep-last <count>", "checkpoints of each thread that stay", wholeNumber(1_000_000))
      .option("--older-than <age>", "only checkpoints older than this: 30d, 12h, 45m", age)
      .option("--thread <id>", "only this thread")
      .option("--user <id>", "only threads of this user")
      .option("--app <id>", "only threads of this app, or of the user in it")
      .option("--tenant <id>", "the tenant of either")
      .option("--dry-run", "only count what would go"),
  run: prune,
};

interface PruneFlags extends MemoryFlags {
  readonly keepLast: number;
  readonly olderThan?: number;
  readonly thread?: string;
  readonly dryRun?: true;
}

const unitMs = { d: dayMs, h: 3_600_000, m: 60_000 };

function age(text: string): number {
  const [, count, unit] = /^(\d{1,9})([dhm])$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * unitMs[unit as keyof typeof unitMs];
  throw new InvalidArgumentError("It must be a number of days, hours or minutes, such as 30d, 12h or 45m.");
}

async function prune(flags: PruneFlags): Promise<void> {
  const { keepLast, olderThan, thread: threadId, dryRun } = flags;
  const pruned = await useMemory(flags, async (memory, scope) => {
    const options = { keepLast, olderThan, threadId, ...(scope && { scope }) };
    const { checkpoints, writes, blobs } = await memory.checkpoints.prune({ ...options, dryRun: true });
    const total = checkpoints + writes + blobs;
    if (dryRun) return memory.checkpoints.prune({ ...options, dryRun });
    const bar = progressBar(flags);
    const onProgress = (gone: Pruned) =>
      bar.update({ done: gone.checkpoints + gone.writes + gone.blobs, total });
    return memory.checkpoints.prune({ ...options, onProgress }).finally(bar.stop);
  });
  print(flags, pruned, () => describe(pruned, dryRun === true));
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
