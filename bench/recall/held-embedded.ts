import { HashingEmbeddings, OfflineChatModel } from "../../src/testing/index.js";
import { openEmbedded } from "../bench-database.js";
import { openBenchMemory } from "../bench-memory.js";
import { checkMemories, checkMessages } from "../data/check-data.js";
import { makeCorpus, type Owner } from "../data/corpus.js";
import { loadMemories } from "../data/load-memories.js";
import { printTable } from "../report.js";
import { longestBlock, type Timed, timeInTurns } from "../timing.js";
import { hasSummary, questionsAbout, recallsOf } from "./compare-recalls.js";
import { openHolding } from "./held.js";
import { type LoadedBench, makeSpace, messagesOfTalk, talk, threadOf } from "./load-bench.js";
import type { Sizes } from "./sizes.js";

/** Recall on the embedded database, whose statements run in this process, by number of memories. */
export interface EmbeddedCost {
  /** p50 cold ÷ p50 held. */
  readonly embedded: Record<string, number>;
  /** p50 of the longest time that a recall keeps the process from all else, in milliseconds. */
  readonly embeddedBlockedMs: Record<string, { readonly cold: number; readonly held: number }>;
}

/** Recalls on an embedded database of their own, cold and held in turns. */
export async function compareEmbedded(
  { readers }: LoadedBench,
  { recalls, embeddedRows, embeddedBlocks }: Sizes,
): Promise<EmbeddedCost> {
  const owners = readers.filter(({ texts }) => texts.length <= 5_000);
  const { database, ...memories } = await load(owners, embeddedRows);
  const cost: EmbeddedCost = { embedded: {}, embeddedBlockedMs: {} };
  for (const reader of owners) {
    const size = reader.texts.length;
    const recall = async (rounds: Sizes["recalls"]) => {
      const asked = { questions: questionsAbout(reader.texts, rounds), threadId: threadOf(reader) };
      const both = await recallsOf(memories, reader, {
        ...asked,
        check: hasSummary,
        messages: messagesOfTalk,
      });
      return both as Required<typeof both>;
    };
    const timings = await timeInTurns(await recall(recalls), recalls);
    const blocks = await recall(embeddedBlocks);
    const blocked = await timeInTurns(
      { cold: blocking(blocks.cold), held: blocking(blocks.held) },
      embeddedBlocks,
    );
    printTable(
      `One user's ${size.toLocaleString("en")} memories among ${embeddedRows.toLocaleString("en")}, embedded database`,
      (["held", "cold"] as const).map((path) => ({
        ...{ recall: path, n: timings[path].n, "p50 ms": timings[path].p50, "p95 ms": timings[path].p95 },
        "blocked ms, p50": blocked[path].p50,
      })),
    );
    cost.embedded[size] = timings.cold.p50 / timings.held.p50;
    cost.embeddedBlockedMs[size] = { cold: blocked.cold.p50, held: blocked.held.p50 };
  }
  await memories.holding.close();
  await memories.memory.close();
  await database.close();
  return cost;
}

/** `run`, timed by the longest that it keeps the process from all else. */
const blocking =
  (run: Timed): Timed =>
  (round) =>
    longestBlock(() => run(round));

/** An embedded database with the memories of `owners`, each with a thread that has a summary, and others'. */
async function load(owners: readonly Owner[], rows: number) {
  const database = await openEmbedded();
  const { pool, schema, source } = database;
  const embeddings = new HashingEmbeddings({ dimensions: 384 });
  const options = { database: source, schema, embeddings };
  const memory = await openBenchMemory({ ...options, model: new OfflineChatModel() });
  await makeSpace(memory);
  const corpus = await makeCorpus(owners, rows, embeddings);
  await loadMemories(pool, schema, corpus);
  for (const owner of owners) await talk(memory, owner);
  await checkMemories(pool, schema, corpus);
  await checkMessages(pool, schema, Object.fromEntries(owners.map(({ userId }) => [userId, messagesOfTalk])));
  return { database, memory, holding: await openHolding(options) };
}
