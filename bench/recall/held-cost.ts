import type { Memory } from "../../src/index.js";
import { type BenchDatabase, countStatements, openPool } from "../bench-database.js";
import type { Owner } from "../data/corpus.js";
import { printTable } from "../report.js";
import { longestBlock, printTimings, timed, timeInTurns } from "../timing.js";
import { hasSummary, questionsAbout, recallOf } from "./compare-recalls.js";
import { checkHeld, countServed, openHolding, takeIn } from "./held.js";
import { type LoadedBench, messagesOfTalk, threadOf } from "./load-bench.js";
import type { Sizes } from "./sizes.js";

/** What a recall of a held owner costs beside the least that anything costs. */
export interface PulseCost {
  /** p50 of the recall ÷ p50 of `select 1` on the same pool, by number of memories. */
  readonly vsSelect1: Readonly<Record<string, number>>;
  /** Statements that one such recall sends. */
  readonly roundTrips: number;
}

/** Recall of the user with the fewest memories, held, beside `select 1`. */
export async function compareWithSelect1(
  database: BenchDatabase,
  { readers, embeddings }: LoadedBench,
  { recalls }: Sizes,
): Promise<PulseCost> {
  const { schema } = database;
  const { pool, close } = openPool(database);
  const memory = await openHolding({ database: pool, schema, embeddings });
  const reader = readers[0] as Owner;
  const questions = questionsAbout(reader.texts, recalls);
  await takeIn(memory, reader, messagesOfTalk);
  const served = countServed(memory);
  const check = (recalled: Parameters<typeof hasSummary>[0]) => {
    hasSummary(recalled);
    served(1);
    checkHeld(memory, reader, messagesOfTalk);
  };
  const recall = recallOf(memory, reader, { questions, threadId: threadOf(reader), check });
  const timings = await timeInTurns({ recall, select1: timed(() => pool.query("select 1")) }, recalls);
  const counted = countStatements(pool);
  await recall(0);
  const roundTrips = counted.stop();
  await memory.close();
  await close();
  const size = reader.texts.length;
  printTimings(`Recall of one user's ${size} memories, held, beside the least round trip`, {
    "Mnemograph: whole recall, held": timings.recall,
    "select 1": timings.select1,
  });
  return { vsSelect1: { [size]: timings.recall.p50 / timings.select1.p50 }, roundTrips };
}

/** What a held owner takes of the process. */
export interface HeldWeight {
  /** Growth of the heap and of what lies beside it ÷ memories; null without `--expose-gc`. */
  readonly bytesPerMemory: number | null;
  /** The same as the library counts it. */
  readonly countedBytesPerMemory: number;
  /** From the recall that begins it until all is held. */
  readonly takingInMs: number;
  /** The longest that the process did nothing else meanwhile. */
  readonly takingInBlockedMs: number;
}

/** Takes in the user with the most memories, and weighs the process before and after. */
export async function weighHeld(
  { source, schema }: BenchDatabase,
  { readers, embeddings }: LoadedBench,
): Promise<HeldWeight> {
  const memory = await openHolding({ database: source, schema, embeddings });
  const reader = readers.at(-1) as Owner;
  const size = reader.texts.length;
  const recall = () => recallOnce(memory, reader);
  // The first one connects and plans, and takes nobody in.
  await recall();
  const before = await weigh();
  const startedAt = performance.now();
  const blockedMs = await longestBlock(() => takeIn(memory, reader, messagesOfTalk));
  const ms = performance.now() - startedAt;
  const served = countServed(memory);
  await recall();
  served(1);
  const after = await weigh();
  const { bytes } = checkHeld(memory, reader, messagesOfTalk);
  await memory.close();
  const weight = {
    bytesPerMemory: before === null || after === null ? null : (after - before) / size,
    countedBytesPerMemory: bytes / size,
    takingInMs: ms,
    takingInBlockedMs: blockedMs,
  };
  printTable(`One user's ${size.toLocaleString("en")} memories, held`, [
    {
      "bytes a memory": weight.bytesPerMemory ?? "no --expose-gc",
      "as the library counts": weight.countedBytesPerMemory,
      "taken in, ms": ms,
      "longest block, ms": blockedMs,
    },
  ]);
  return weight;
}

async function recallOnce(memory: Memory, { userId, texts }: Owner): Promise<void> {
  await memory.recall({ scope: { userId }, threadId: "a new thread", query: texts[0] as string });
}

/**
 * Bytes that the process uses once garbage is collected, or null where that cannot be asked for. Arrays' and
 * WebAssembly's memory is part of `external`.
 */
async function weigh(): Promise<number | null> {
  if (globalThis.gc === undefined) return null;
  for (let times = 0; times < 3; times++) {
    // What is given back by finalizers is garbage only then.
    await new Promise((resolve) => setTimeout(resolve, 20));
    globalThis.gc();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
