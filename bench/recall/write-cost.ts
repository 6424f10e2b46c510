import type { PostgresStore } from "@langchain/langgraph-checkpoint-postgres/store";
import type { Memory } from "../../src/index.js";
import { printTable } from "../table.js";
import { seeded, sentence } from "./sentences.js";

const singles = 200;
const batches = 5;
const batchSize = 100;

/** What `measureWrites` measured, for the line of JSON. */
export interface WriteCost {
  /** Memories added a second in batches of 100 ÷ `PostgresStore.put`s a second. */
  readonly addSpeedup: number | null;
  readonly addsPerSecond: { readonly single: number; readonly batch: number };
}

/** Memories added a second: one by one, and in batches of 100, beside `PostgresStore.put` with the same vectors. */
export async function measureWrites(memory: Memory, store: PostgresStore | null): Promise<WriteCost> {
  const random = seeded(99);
  const scope = { userId: "writer" };
  const single = await perSecond(singles, async () => {
    for (let index = 0; index < singles; index++)
      await memory.memories.add({ text: sentence(random) }, { scope });
  });
  const batch = await perSecond(batches * batchSize, async () => {
    for (let index = 0; index < batches; index++) {
      await memory.memories.add(
        Array.from({ length: batchSize }, () => ({ text: sentence(random) })),
        { scope },
      );
    }
  });
  const put = store
    ? await perSecond(singles, async () => {
        for (let index = 0; index < singles; index++) {
          await store.put(["memories", "writer"], `w${index}`, { text: sentence(random) });
        }
      })
    : null;
  printTable("Memories added a second", [
    { what: "memory.memories.add, one by one (looks for doubles, links, audit)", "per second": single },
    { what: "memory.memories.add, batches of 100", "per second": batch },
    ...(put === null ? [] : [{ what: "PostgresStore.put", "per second": put }]),
  ]);
  return { addSpeedup: put && batch / put, addsPerSecond: { single, batch } };
}

async function perSecond(count: number, work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return count / ((performance.now() - startedAt) / 1_000);
}
