import { once } from "node:events";
import type { Memory, Scope } from "mnemograph";
import type { MemoryFlags } from "./flags.js";

/** @throws MemoryError `SETUP_REQUIRED` without a database, `INVALID_INPUT` */
export async function useMemory<Result>(
  flags: MemoryFlags,
  work: (memory: Memory) => Promise<Result>,
): Promise<Result> {
  const { openMemory } = await import("./open-memory.js");
  const memory = await openMemory(flags);
  try {
    // Connects now, so that a broken database ends the command and not its first request.
    await memory.energy.level();
    return await work(memory);
  } finally {
    await memory.close();
  }
}

/** @throws MemoryError `SCOPE_REQUIRED`, before it opens the database */
export async function useScope<Result>(
  flags: MemoryFlags,
  work: (memory: Memory, scope: Scope) => Promise<Result>,
): Promise<Result> {
  const { scopeOfFlags } = await import("./open-memory.js");
  const scope = scopeOfFlags(flags);
  return useMemory(flags, (memory) => work(memory, scope));
}

/** Resolves at SIGTERM or SIGINT; a second one exits immediately. */
export async function stopSignal(): Promise<void> {
  const signals = ["SIGTERM", "SIGINT"];
  await Promise.race(signals.map((signal) => once(process, signal)));
  for (const signal of signals) process.once(signal, () => process.exit(1));
}
