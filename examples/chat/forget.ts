import type { MemoryItem } from "mnemograph";
import type { Conversation } from "./conversation.js";

/** Erases all that is kept of the user, if the user types "yes". */
export async function forgetEverything({ memory, scope, terminal }: Conversation): Promise<void> {
  await memory.idle();
  const { removed } = await memory.forget({ scope, dryRun: true });
  const counted = [
    count(removed.memory, "memory", "memories"),
    count(removed.message, "message", "messages"),
    count(removed.thread, "conversation", "conversations"),
  ].filter((each) => each !== null);
  if (counted.length === 0) return terminal.print("Nothing is kept of you.");
  terminal.print(
    `This erases all that is kept of "${scope.userId}", for good: ${listed(counted)}, and what hangs on them.`,
    "yellow",
  );
  if (!(await confirmed({ terminal }))) return terminal.print("Nothing was erased.");
  await memory.forget({ scope });
  terminal.print("Erased. The conversation begins anew.");
}

/** Removes one memory, if the user types "yes". */
export async function forgetMemory(
  { memory, scope, terminal }: Conversation,
  { id, text }: MemoryItem,
): Promise<void> {
  terminal.print(`To be forgotten: ${text}`, "yellow");
  if (!(await confirmed({ terminal }))) return terminal.print("It is still remembered.");
  await memory.memories.remove({ scope, actor: scope.userId, id });
  terminal.print("Forgotten.");
}

async function confirmed({ terminal }: Pick<Conversation, "terminal">): Promise<boolean> {
  const answer = await terminal.read('Type "yes" to go on: ');
  return answer?.trim().toLowerCase() === "yes";
}

function count(rows: number | undefined, one: string, many: string): string | null {
  return rows ? `${rows} ${rows === 1 ? one : many}` : null;
}

function listed(items: readonly string[]): string {
  return new Intl.ListFormat("en-GB").format(items);
}
