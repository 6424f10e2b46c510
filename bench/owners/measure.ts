import type { Memory } from "../../src/index.js";
import { HashingEmbeddings, OfflineChatModel } from "../../src/testing/index.js";
import { type BenchDatabase, vacuumSchema } from "../bench-database.js";
import { openBenchMemory } from "../bench-memory.js";
import { seeded } from "../data/sentences.js";
import { makeSpace } from "../recall/load-bench.js";
import { printTimings, type Timing, timed, timeInTurns } from "../timing.js";
import type { Filled } from "./fill.js";
import { place, questionFor, sampleSize, userOf, writeOwner } from "./sample.js";

/** The same sample of owners twice: alone in a schema, and among all others in another. */
export interface Schemas {
  /** Holds the sample and nobody else. */
  readonly alone: { readonly memory: Memory; readonly schema: string };
  /** Empty until it is filled. */
  readonly among: { readonly memory: Memory; readonly schema: string };
  /** Memories of each owner. */
  readonly memories: number;
  close(): Promise<void>;
}

/** Makes both schemas, and writes the sample through the library's calls into the first. */
export async function openSchemas(database: BenchDatabase, memories: number): Promise<Schemas> {
  const open = async (schema: string) => {
    const embeddings = new HashingEmbeddings({ dimensions: 384 });
    const memory = await openBenchMemory({
      ...{ database: database.source, schema, embeddings, model: new OfflineChatModel() },
    });
    await makeSpace(memory);
    return { memory, schema };
  };
  const alone = await open(`${database.schema}_sample`);
  const among = await open(database.schema);
  for (let index = 0; index < sampleSize; index++) {
    await writeOwner(alone.memory, userOf(index), memories, index);
  }
  await vacuumSchema(database.pool, alone.schema);
  return {
    ...{ alone, among, memories },
    async close() {
      await alone.memory.close();
      await among.memory.close();
    },
  };
}

const rounds = { rounds: 500, warmUps: 50 };

/** What calls take; "before" is of the schema that has only the sample, asked in turns with the other. */
export interface CallTimes {
  readonly recallP95Ms: { readonly before: number; readonly after: number; readonly others: number };
  readonly addP95Ms: { readonly before: number; readonly after: number; readonly newOwners: number };
  readonly recallP50Ms: { readonly before: number; readonly after: number; readonly others: number };
  readonly addP50Ms: { readonly before: number; readonly after: number; readonly newOwners: number };
  /** After ÷ before, of the p95. */
  readonly ratio: { readonly recall: number; readonly add: number };
}

/** Recalls and adds of the sample alone, of the same owners among all others, and of owners never asked for before. */
export async function measureCalls({ alone, among }: Schemas, { copies }: Filled): Promise<CallTimes> {
  const random = seeded(17);
  const recall = (memory: Memory, copyOf: (round: number) => number) =>
    timed(
      (round) => memory.recall({ ...place(round, copyOf(round)), query: questionFor(round) }),
      ({ memories }, round) => {
        if (memories.relevant.length === 0 || memories.timedOut)
          throw new Error(`Round ${round} found nothing.`);
      },
    );
  const recalls = await timeInTurns(
    {
      before: recall(alone.memory, () => 0),
      after: recall(among.memory, () => 0),
      others: recall(among.memory, () => 1 + Math.floor(random() * (copies - 1))),
    },
    rounds,
  );
  printTimings("A recall", recalls);
  const add = (memory: Memory, userId: (round: number) => string) =>
    timed(
      (round) =>
        memory.memories.add(
          { text: `Round ${round} was about the ${round}th boat.` },
          { scope: { userId: userId(round) } },
        ),
      ([outcome], round) => {
        if (outcome?.outcome !== "created") throw new Error(`Round ${round} was ${outcome?.outcome}.`);
      },
    );
  const adds = await timeInTurns(
    {
      before: add(alone.memory, (round) => place(round, 0).scope.userId),
      after: add(among.memory, (round) => place(round, 0).scope.userId),
      newOwners: add(among.memory, (round) => `somebody new ${round}`),
    },
    rounds,
  );
  printTimings("An add", adds);
  const each = <Name extends string>(timings: Record<Name, Timing>, of: "p50" | "p95") =>
    Object.fromEntries(Object.entries<Timing>(timings).map(([name, timing]) => [name, timing[of]])) as Record<
      Name,
      number
    >;
  return {
    ...{ recallP95Ms: each(recalls, "p95"), addP95Ms: each(adds, "p95") },
    ...{ recallP50Ms: each(recalls, "p50"), addP50Ms: each(adds, "p50") },
    ratio: { recall: recalls.after.p95 / recalls.before.p95, add: adds.after.p95 / adds.before.p95 },
  };
}
