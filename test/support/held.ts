import { setTimeout as sleep } from "node:timers/promises";
import type { Memory, MemoryConfig, Recalled, RecallInput } from "../../src/index.js";
import { limitsMs } from "./timing.js";

/** Settings of a memory that holds nobody: each of its recalls reads the tables. */
export const notHeld: MemoryConfig = { retrieval: { held: false } };

/** Settings of a memory that holds at most so many bytes. */
export function holdingAtMost(mostBytes: number): MemoryConfig {
  return { retrieval: { held: { mostBytes } } };
}

/**
 * Recalls until a recall was served from what is held, and returns what that one gave. Who is asked for the second time
 * is taken in, in the background.
 */
export async function recallUntilHeld(memory: Memory, input: RecallInput): Promise<Recalled> {
  const before = memory.held().served.held;
  const startedAt = performance.now();
  while (performance.now() - startedAt < limitsMs.step) {
    const recalled = await memory.recall(input);
    if (memory.held().served.held > before) return recalled;
    await sleep(10);
  }
  throw new Error(`${JSON.stringify(input.scope)} is not held: ${JSON.stringify(memory.held())}`);
}

/** Recalls, and throws unless that was served from what is held. */
export async function recallHeld(memory: Memory, input: RecallInput): Promise<Recalled> {
  const before = memory.held().served.held;
  const recalled = await memory.recall(input);
  if (memory.held().served.held === before + 1) return recalled;
  throw new Error(`That recall was not served from what is held: ${JSON.stringify(memory.held())}`);
}

/** Texts of all memories that were recalled, sorted. */
export function textsOf({ memories }: Recalled): string[] {
  const { profile, relevant, episodes, related, rest, notes } = memories;
  const hits = [...relevant, ...episodes].map(({ memory }) => memory);
  return [...profile, ...hits, ...related, ...rest, ...notes].map(({ text }) => text).toSorted();
}
