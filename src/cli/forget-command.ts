import { createInterface } from "node:readline/promises";
import { MemoryError } from "../errors.js";
import type { Forgotten } from "../governance/forget.js";
import { aligned } from "./aligned.js";
import { type MemoryFlags, type ScopeFlags, scopeOf, useMemory } from "./memory-flags.js";
import { oneLine } from "./one-line.js";
import { progressBar } from "./progress-bar.js";

/** Flags of `forget`. */
export interface ForgetFlags extends MemoryFlags, ScopeFlags {
  readonly dryRun?: true;
  readonly yes?: true;
}

/**
 * `mnemograph forget`: deletes everything of a user or an app, after asking.
 *
 * @throws MemoryError `INVALID_INPUT` when nobody can be asked and --yes is not given; `FORGET_INCOMPLETE` when others kept
 *   writing.
 */
export async function forgetCommand(flags: ForgetFlags): Promise<void> {
  const scope = scopeOf(flags);
  await useMemory(flags, async (memory) => {
    const preview = await memory.forget(scope, { dryRun: true });
    if (flags.dryRun) return print(flags, preview, "Would forget");
    if (!flags.yes && !(await agreed(preview, flags)))
      throw new MemoryError("INVALID_INPUT", "Nothing was forgotten.");
    const bar = progressBar(flags);
    const forgotten = await memory.forget(scope, { onProgress: bar.update }).finally(bar.stop);
    print(flags, forgotten, "Forgot");
    if (forgotten.complete) return;
    throw new MemoryError("FORGET_INCOMPLETE", "Others kept writing: run it again.");
  });
}

async function agreed({ total }: Forgotten, { user, app }: ScopeFlags): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new MemoryError(
      "INVALID_INPUT",
      "forget deletes for good: add --yes, or --dry-run to see what would go.",
    );
  }
  const who = [user !== undefined && `user ${user}`, app !== undefined && `app ${app}`]
    .filter(Boolean)
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
