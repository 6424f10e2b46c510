import type { Memory } from "../../src/memory.js";
import type { MemoryConfig } from "../../src/options.js";
import type { TestDatabase } from "./test-database.js";
import type { TestConfig, TestOptions } from "./test-memory.js";

/** What turns off all background work but summaries, so that a scripted model is asked for nothing else. */
export const summariesOnly = { memories: { extract: false, episodes: false } } satisfies MemoryConfig;

/** A memory on `db` that makes summaries and nothing else. */
export function summaryMemory(
  db: TestDatabase,
  options: Omit<TestOptions, "config"> & { readonly config?: TestConfig } = {},
): Memory {
  return db.memory({ ...options, config: { ...options.config, ...summariesOnly } });
}
