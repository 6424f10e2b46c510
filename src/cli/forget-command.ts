import { createInterface } from "node:readline/promises";
import { MemoryError } from "../errors.js";
import type { ForgetOptions, Forgotten } from "../forgetting/erase-scope.js";
import { type CliCommand, type MemoryFlags, withDatabase, withScope } from "./flags.js";
import { aligned, oneLine, print, progressBar } from "./output.js";
import { useScope } from "./use-memory.js";

/** `mnemograph forget`: deletes everything of a user or an app, or one thread of theirs, after asking. */
export const forgetCommand: CliCommand = {
  name: "forget",
  description:
    "delete everything of a user or an app, or one conversation, for good; interrupted, the next run finishes it",
  examples: [
    ["forget --user ana --dry-run", "what would go with a user; --yes deletes it for good"],
    ["forget --user ana --thread t1", "one conversation; what was learned in it stays"],
  ],
  flags: (command) =>
    withDatabase(withScope(command))
      .option("--thread <id>", "only this conversation: what was learned in it stays")
      .option("--with-memories", "with --thread: also what was learned in it")
      .option("--dry-run", "only count what would go")
      .option("--yes", "do not ask"),
  run: forget,
};

interface ForgetFlags extends MemoryFlags {
  readonly dryRun?: true;
  readonly yes?: true;
  readonly thread?: string;
  readonly withMemories?: true;
}

/**
 * Deletes what the flags name, after asking.
 *
 * @throws MemoryError `NOT_FOUND` when there is no such thread; `INVALID_INPUT` when nobody can be asked and --yes is
 *   not given; `BUSY` when others kept writing.
 */
async function forget(flags: ForgetFlags): Promise<void> {
  const { thread: threadId, withMemories } = flags;
  if (withMemories && threadId === undefined) {
    throw new MemoryError("INVALID_INPUT", "--with-memories needs --thread: without one all memories go.");
  }
  await useScope(flags, async (memory, scope) => {
    const erase = (options: ForgetOptions) =>
      threadId === undefined
        ? memory.forget(scope, options)
        : memory.threads.delete({ ...options, scope, threadId, memories: withMemories ? "remove" : "keep" });
    const preview = await erase({ dryRun: true });
    if (flags.dryRun) return print(flags, preview, () => describe(preview, "Would forget"));
    const hint = "forget deletes for good: add --yes, or --dry-run to see what would go.";
    if (!flags.yes && !(await agreed(question(preview, flags), hint)))
      throw new MemoryError("INVALID_INPUT", "Nothing was forgotten.");
    const bar = progressBar(flags);
    const forgotten = await erase({ onProgress: bar.update }).finally(bar.stop);
    print(flags, forgotten, () => describe(forgotten, "Forgot"));
    if (forgotten.complete) return;
    throw new MemoryError("BUSY", "Others kept writing: run it again.");
  });
}

function question({ total }: Forgotten, { user, app, thread }: ForgetFlags): string {
  const who = Object.entries({ user, app, thread })
    .flatMap(([what, id]) => (id === undefined ? [] : [`${what} ${id}`]))
    .join(", ");
  return `Delete ${total} rows of ${oneLine(who)} for good?`;
}

/**
 * Whether the one at the terminal agrees to `question`.
 *
 * @param hint what to do where nobody can be asked.
 * @throws MemoryError `INVALID_INPUT` when nobody can be asked
 */
async function agreed(question: string, hint: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new MemoryError("INVALID_INPUT", hint);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

function describe({ removed, total, sharedThreads }: Forgotten, verb: string): string {
  const shared =
    `The checkpoints of ${sharedThreads.length} threads stay: another tenant uses the same thread ids ` +
    `(${oneLine(sharedThreads.slice(0, 5).join(", "))}).`;
  const rows = aligned(Object.entries(removed));
  return [`${verb} ${total} rows.`, ...rows, ...(sharedThreads.length > 0 ? [shared] : [])].join("\n");
}
