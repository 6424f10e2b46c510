import type { Memory, Scope } from "../../src/index.js";
import type { Terminal } from "./terminal.js";

/** What is remembered of a user now, oldest first; what is still being extracted from the last words comes first. */
export async function printMemories(memory: Memory, scope: Scope, terminal: Terminal): Promise<void> {
  await memory.idle();
  const memories = await memory.memories.list({ scope });
  for (const { category, key, value, text, turns } of memories.toReversed()) {
    const where = turns === null ? "" : `turns ${turns.start}-${turns.end}: `;
    terminal.print(`- [${category}] ${where}${key === null ? text : `${key}: ${value}`}`);
  }
  if (memories.length === 0) terminal.print("Nothing is remembered yet.");
}
