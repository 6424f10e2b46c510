import type { MemoryConfig } from "../../src/config.js";
import type { Memory } from "../../src/memory.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { round } from "./spoken.js";
import type { TestDatabase } from "./test-database.js";
import type { TestConfig, TestOptions } from "./test-memory.js";
import { newAddress } from "./thread-facts.js";

/** Turns off all background work except summaries. */
const memories = { extract: false, episodes: false };
export const summariesOnly = { preset: "every-round", memories } satisfies MemoryConfig;

type SummaryOptions = Omit<TestOptions, "config"> & { readonly config?: TestConfig };

export function summaryMemory(db: TestDatabase, options: SummaryOptions = {}): Memory {
  return db.memory({ ...options, config: { ...options.config, ...summariesOnly } });
}

/**
 * A new thread in such a memory. The default model answers "summary 1", "summary 2", …; `say` ends
 * a turn and returns the state of its summary.
 */
export function summarisedThread<Model extends ScriptedChatModel = ScriptedChatModel>(
  db: TestDatabase,
  options: Omit<SummaryOptions, "model"> & { readonly model?: Model } = {},
) {
  const replies = (_: unknown, index: number) => ({
    structured: { reasoning: "…", summary: `summary ${index + 1}` },
  });
  const model = options.model ?? (new ScriptedChatModel({ replies }) as Model);
  const memory = summaryMemory(db, { ...options, model });
  const thread = newAddress();
  const say = async (name: string | number) =>
    (await memory.remember({ ...thread, messages: round(`${name}`) })).summary;
  return { memory, model, thread, say };
}
