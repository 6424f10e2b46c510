import type { Memory } from "../../src/index.js";
import type { BenchDatabase } from "../bench-database.js";
import { addMemories, openBenchMemory } from "../bench-memory.js";
import { fixedName, sentences } from "../data/corpus.js";
import { printTimings, type Timed, timed, timeInTurns } from "../timing.js";
import type { LoadedBench } from "./load-bench.js";
import { namespaceOf, type PeerStores } from "./peer-stores.js";
import type { Sizes } from "./sizes.js";

const batchSize = 100;

/** Nothing is known of this user at first. */
const newcomer = fixedName("newcomer", 1);

/** Something a second: one by one, and in batches of 100. */
interface PerSecond {
  readonly single: number;
  readonly batch: number;
}

/** What `compareWrites` measured, for the line of JSON. */
export interface WriteCost {
  /**
   * Memories added a second in batches of 100 ÷ `PostgresStore.put`s a second; null without a
   * server.
   */
  readonly addSpeedup: number | null;
  /**
   * Like beside like: adds ÷ puts, and batches of 100 adds ÷ batches of 100 puts; null without a
   * server.
   */
  readonly addRatio: PerSecond | null;
  readonly addsPerSecond: PerSecond;
  readonly putsPerSecond: PerSecond | null;
  /** p50 of adding a memory to many ÷ to few. */
  readonly add: number;
}

/**
 * Memories added one by one and in batches, beside what `PostgresStore` takes to write the same
 * texts.
 */
export async function compareWrites(
  bench: LoadedBench,
  { adds, batches }: Sizes,
): Promise<WriteCost> {
  const {
    peers,
    writers: [few, many],
  } = bench;
  const ours = writesOf(bench);
  const single = await timeInTurns({ ...ours.single, ...(peers && { put: put(peers, 44) }) }, adds);
  const batch = await timeInTurns(
    { ...ours.batch, ...(peers && { put: putBatch(peers, 46) }) },
    batches,
  );
  const count = (texts: readonly string[]) => `${texts.length.toLocaleString("en")} memories`;
  printTimings("Writes", {
    "memory.memories.add, to none at first": single.none,
    [`memory.memories.add, to ${count(few.texts)}`]: single.few,
    [`memory.memories.add, to ${count(many.texts)}`]: single.many,
    ...(single.put && { "PostgresStore.put": single.put }),
    "memory.memories.add, batch of 100, to none at first": batch.add,
    ...(batch.put && { "PostgresStore.batch, 100 puts": batch.put }),
  });
  const perSecond = (one: number, many: number) => ({
    single: 1_000 / one,
    batch: (batchSize * 1_000) / many,
  });
  const addsPerSecond = perSecond(single.none.p50, batch.add.p50);
  const putsPerSecond = single.put && batch.put ? perSecond(single.put.p50, batch.put.p50) : null;
  return {
    addSpeedup: putsPerSecond && addsPerSecond.batch / putsPerSecond.single,
    addRatio: putsPerSecond && {
      single: addsPerSecond.single / putsPerSecond.single,
      batch: addsPerSecond.batch / putsPerSecond.batch,
    },
    addsPerSecond,
    putsPerSecond,
    add: single.many.p50 / single.few.p50,
  };
}

/** Memories added one by one, to users with none at first, few and many, and in batches. */
export function writesOf({ memory, writers: [few, many] }: LoadedBench) {
  return {
    single: {
      none: add(memory, newcomer, 41),
      few: add(memory, few.userId, 42),
      many: add(memory, many.userId, 43),
    },
    batch: { add: addBatch(memory, 45) },
  };
}

/**
 * Milliseconds that one link to a neighbour costs when a memory is added: the median of adds that
 * link to three neighbours, less that of adds of the same texts that link to none.
 */
export async function measureLinks(
  { pool, schema, source }: BenchDatabase,
  { embeddings }: LoadedBench,
  { linkedAdds }: Sizes,
): Promise<number> {
  const linksEach = 3;
  const open = (links: number) =>
    // Whatever is nearest is linked.
    openBenchMemory(
      { database: source, schema, embeddings },
      { constants: { memories: { links, linkSimilarity: 0 } } },
    );
  const [linking, alone] = [await open(linksEach), await open(0)];
  const timings = await timeInTurns(
    { linked: add(linking, "linking", 77), unlinked: add(alone, "unlinked", 77) },
    linkedAdds,
  );
  await Promise.all([linking.close(), alone.close()]);
  const adds = linkedAdds.rounds + linkedAdds.warmUps;
  const { rows } = await pool.query<{ userId: string; links: number }>(
    `select m.user_id as "userId", count(*)::integer as links from "${schema}".relation r
     join "${schema}".memory m on m.ref = r.from_ref where m.user_id in ('linking', 'unlinked') group by m.user_id`,
  );
  // The first ones have fewer neighbours, and what has nothing in common is not linked.
  if (rows.length !== 1 || (rows[0]?.links ?? 0) < 0.9 * linksEach * (adds - linksEach))
    throw new Error(`${adds} memories each have links: ${JSON.stringify(rows)}.`);

  const edgeMs = Math.max(0, (timings.linked.p50 - timings.unlinked.p50) / linksEach);
  printTimings("What links cost when a memory is added", {
    "with links to three neighbours": timings.linked,
    "without links": timings.unlinked,
  });
  console.log(`Each link: ${edgeMs.toFixed(2)} ms`);
  return edgeMs;
}

/** Adds one memory after another of `userId`; each must be new. */
function add(memory: Memory, userId: string, seed: number): Timed {
  const texts = sentences(1_000, seed);
  return timed((round) => addMemories(memory, { userId }, { text: texts[round] as string }));
}

function addBatch(memory: Memory, seed: number): Timed {
  return timed((round) =>
    addMemories(
      memory,
      { userId: fixedName("newcomer", 2) },
      sentences(batchSize, seed + 1_000 * round).map((text) => ({ text })),
    ),
  );
}

const storeWriter = namespaceOf(fixedName("newcomer", 3));

function put({ postgres }: PeerStores, seed: number): Timed {
  const texts = sentences(1_000, seed);
  return timed((round) =>
    postgres.put(storeWriter, `single${round}`, { text: texts[round] as string }),
  );
}

function putBatch({ postgres }: PeerStores, seed: number): Timed {
  return timed((round) =>
    postgres.batch(
      sentences(batchSize, seed + 1_000 * round).map((text, index) => ({
        namespace: storeWriter,
        key: `batch${round}-${index}`,
        value: { text },
      })),
    ),
  );
}
