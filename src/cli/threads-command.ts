import type { Thread } from "../conversation/list-threads.js";
import { MemoryError } from "../errors.js";
import { type CliCommand, wholeNumber, withDatabase, withScope } from "./flags.js";
import { type ForgetFlags, forget } from "./forget-command.js";
import { aligned, print } from "./output.js";
import { useScope } from "./use-memory.js";

/** `mnemograph threads`: the conversations of a user or an app, and the end of one. */
export const threadsCommand: CliCommand = {
  name: "threads",
  description: "list conversations, most recently active first, or delete one for good",
  examples: [
    ["threads --user ana", "her conversations"],
    ["threads delete t1 --user ana --dry-run", "what would go with one; see also forget --thread"],
  ],
  flags: (command) =>
    withDatabase(withScope(command))
      .argument("[action]", '"delete" deletes one conversation')
      .argument("[id]", "which")
      .option("--limit <count>", "list at most this many (default: 100)", wholeNumber(1_000))
      .option("--after <cursor>", "the next page: after the thread with this cursor, as --json shows it")
      .option("--with-memories", "with delete: also what was learned in it")
      .option("--dry-run", "with delete: only count what would go")
      .option("--yes", "with delete: do not ask"),
  run: threads,
};

interface ThreadsFlags extends ForgetFlags {
  readonly limit?: number;
  readonly after?: string;
}

/** @throws MemoryError `INVALID_INPUT` for another action, and what `forget` throws. */
async function threads(
  action: string | undefined,
  id: string | undefined,
  flags: ThreadsFlags,
): Promise<void> {
  if (action === "delete" && id !== undefined) return forget({ ...flags, thread: id });
  if (action !== undefined) {
    throw new MemoryError("INVALID_INPUT", "Use `threads` to list them, or `threads delete <id>`.");
  }
  const { limit, after } = flags;
  const found = await useScope(flags, (memory, scope) => memory.threads.list({ scope, limit, after }));
  print(flags, found, () => aligned(found.map(row)).join("\n") || "There are none.");
}

function row({ threadId, scope, messages, lastActivityAt }: Thread) {
  return [lastActivityAt.toISOString(), `${messages} messages`, scope.appId ?? "-", threadId];
}
