import { createInterface } from "node:readline/promises";
import { MemoryError } from "../errors.js";
import type { ForgetOptions, Forgotten } from "../forgetting/erase-scope.js";
import type { Memory } from "../memory.js";
import { type MemoryFlags, type ScopeFlags, scopeOf, useMemory } from "./memory-flags.js";
import { aligned, oneLine, progressBar } from "./output.js";

/** Flags of `forget`. */
export interface ForgetFlags extends MemoryFlags, ScopeFlags {
  readonly dryRun?: true;
  readonly yes?: true;
  readonly thread?: string;
  readonly withMemories?: true;
}

/**
 * `mnemograph forget`: deletes everything of a user or an app, or one thread of theirs, after asking.
 *
 * @throws MemoryError `NOT_FOUND` when there is no such thread; `INVALID_INPUT` when nobody can be asked and --yes is
 *   not given; `FORGET_INCOMPLETE` when others kept
 *   writing.
 */
export async function forgetCommand(flags: ForgetFlags): Promise<void> {
  if (flags.withMemories && flags.thread === undefined) {
    throw new MemoryError("INVALID_INPUT", "--with-memories needs --thread: without one all memories go.");
  }
  await useMemory(flags, async (memory) => {
    const preview = await erase(memory, flags, { dryRun: true });
    if (flags.dryRun) return print(flags, preview, "Would forget");
    if (!flags.yes && !(await agreed(preview, flags)))
      throw new MemoryError("INVALID_INPUT", "Nothing was forgotten.");
    const bar = progressBar(flags);
    const forgotten = await erase(memory, flags, { onProgress: bar.update }).finally(bar.stop);
    print(flags, forgotten, "Forgot");
    if (forgotten.complete) return;
    throw new MemoryError("FORGET_INCOMPLETE", "Others kept writing: run it again.");
  });
}

function erase(memory: Memory, flags: ForgetFlags, options: ForgetOptions): Promise<Forgotten> {
  const scope = scopeOf(flags);
  const { thread: threadId, withMemories } = flags;
  if (threadId === undefined) return memory.forget(scope, options);
  return memory.threads.remove({ ...options, scope, threadId, memories: withMemories ? "remove" : "keep" });
}

async function agreed({ total }: Forgotten, { user, app, thread }: ForgetFlags): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new MemoryError(
      "INVALID_INPUT",
      "forget deletes for good: add --yes, or --dry-run to see what would go.",
    );
  }
  const who = Object.entries({ user, app, thread })
    .flatMap(([what, id]) => (id === undefined ? [] : [`${what} ${id}`]))
    .join(", ");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`Delete ${total} rows of ${oneLine(who)} for good? [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

function print({ json }: ForgetFlags, forgotten: Forgotten, verb: string): void {
  if (json) {
    console.log(JSON.stringify(forgotten));
    return;
  }
  const { removed, total, sharedThreads } = forgotten;
  console.log([`${verb} ${total} rows.`, ...aligned(Object.entries(removed))].join("\n"));
  if (sharedThreads.length === 0) return;
  console.log(
    `The checkpoints of ${sharedThreads.length} threads stay: another tenant uses the same thread ids ` +
      `(${oneLine(sharedThreads.slice(0, 5).join(", "))}).`,
  );
}
