import type { Memory } from "../../src/index.js";
import { HashingEmbeddings, OfflineChatModel } from "../../src/testing/index.js";
import type { BenchDatabase } from "../bench-database.js";
import { messagesOf, openBenchMemory, type Round, recordTurns } from "../bench-memory.js";
import { checkLoader, checkMemories, checkMessages } from "../data/check-data.js";
import { fixedName, type LoadedMemory, makeCorpus, type Owner, sentences } from "../data/corpus.js";
import { loadMemories } from "../data/load-memories.js";
import { loadPeerStores, type PeerStores } from "./peer-stores.js";
import { facts, type Sizes } from "./sizes.js";

/** Whose memories are measured. */
interface Owners {
  /**
   * By number of memories: who is compared with LangGraph's stores. Each has a thread with a
   * summary.
   */
  readonly readers: readonly Owner[];
  /** The same facts three times: learned from a thread, beside such a thread, and alone. */
  readonly talker: Owner;
  readonly unsourced: Owner;
  readonly alone: Owner;
  /** Whose writes are compared: one with few memories, one with many. */
  readonly writers: readonly [few: Owner, many: Owner];
}

/** Everything that is loaded, and counted, before anything is timed. */
export interface LoadedBench extends Owners {
  readonly memory: Memory;
  readonly embeddings: HashingEmbeddings;
  readonly corpus: readonly LoadedMemory[];
  /** Null until `loadPeers`, and without a server. */
  readonly peers: PeerStores | null;
}

/** Loads the table of `sizes.rows` memories. Throws unless all of it is there. */
export async function loadBench(database: BenchDatabase, sizes: Sizes): Promise<LoadedBench> {
  const { pool, schema } = database;
  const embeddings = new HashingEmbeddings({ dimensions: 384 });
  // A thread of a few turns has a summary.
  const memory = await openBenchMemory(
    { database: database.source, schema, embeddings, model: new OfflineChatModel() },
    { preset: "every-round" },
  );
  await makeSpace(memory);
  await checkLoader(memory, { pool, schema, embeddings });
  const owners = ownersOf(sizes);
  const { readers, talker, unsourced, alone, writers } = owners;
  for (const owner of [talker, unsourced]) await recordFacts(memory, owner);
  const corpus = await makeCorpus(
    [...readers, talker, unsourced, alone, ...writers],
    sizes.rows,
    embeddings,
  );
  await loadMemories(pool, schema, corpus);
  for (const reader of readers) await talk(memory, reader);
  await checkMemories(pool, schema, corpus);
  await checkMessages(pool, schema, {
    [talker.userId]: 2 * facts,
    [unsourced.userId]: 2 * facts,
    ...Object.fromEntries(readers.map(({ userId }) => [userId, messagesOfTalk])),
  });
  return { ...owners, memory, embeddings, corpus, peers: null };
}

/** Loads LangGraph's stores. */
export async function loadPeers(database: BenchDatabase, bench: LoadedBench): Promise<LoadedBench> {
  const { readers, embeddings, corpus } = bench;
  const inMemoryUsers = new Set(readers.map(({ userId }) => userId));
  return { ...bench, peers: await loadPeerStores(database, embeddings, corpus, inMemoryUsers) };
}

/** Makes the embedding space, which the first vector does, so that rows can be loaded into it. */
export async function makeSpace(memory: Memory): Promise<void> {
  await memory.query({ scope: { userId: "nobody" }, query: "first" });
}

/** The user with 1,000 memories. */
export function readerOf({ readers }: Owners): Owner {
  return readers.find(({ texts }) => texts.length === facts) as Owner;
}

/** The thread of `talk`. */
export const threadOf = ({ userId }: Owner): string => `thread of ${userId}`;

const turnsOfTalk = 5;

/** Messages of the thread of `talk`. */
const messagesOfTalk = 2 * turnsOfTalk;

/** A thread with a summary and something said since, so that recall has all of its work to do. */
export async function talk(memory: Memory, owner: Owner): Promise<void> {
  const thread = { scope: { userId: owner.userId }, threadId: threadOf(owner) };
  const said = Array.from(
    { length: turnsOfTalk },
    (_, round): Round => [`Let us talk about plan ${round}.`, "Gladly, go on."],
  );
  for (const round of said.slice(0, -1)) {
    await memory.remember({ ...thread, messages: messagesOf(round) });
    await memory.idle();
  }
  // Recording starts no summary.
  await recordTurns(memory, thread, said.slice(-1));
}

function ownersOf({ readers, writers: [few, many] }: Sizes): Owners {
  const said = sentences(facts, 11);
  const owner = (kind: string, count: number, seed: number): Owner => ({
    userId: fixedName(kind, count),
    texts: sentences(count, seed),
  });
  return {
    readers: readers.map((count) => owner("reader", count, count)),
    talker: { userId: fixedName("talker", 1), texts: said, threadId: "thread of the talker" },
    unsourced: { userId: fixedName("unsourced", 1), texts: said },
    alone: { userId: fixedName("alone", 1), texts: said },
    writers: [owner("writer", few, 21), owner("writer", many, 22)],
  };
}

/** Records one thread in which the user says each of the facts in a message of their own. */
async function recordFacts(memory: Memory, { userId, texts, threadId }: Owner): Promise<void> {
  const answers = sentences(texts.length, 12);
  await recordTurns(
    memory,
    { scope: { userId }, threadId: threadId ?? `thread of ${userId}` },
    texts.map((text, index) => [`By the way: ${text}`, answers[index] as string]),
  );
}
