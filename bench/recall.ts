import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { createMemory, type Memory } from "../src/index.js";
import { HashingEmbeddings, OfflineChatModel } from "../src/testing/index.js";
import { countStatements, openBenchDatabase } from "./bench-database.js";
import { measureEdges } from "./recall/edge-cost.js";
import { type LoadedMemory, loadMemories, multiplyMemories } from "./recall/load-memories.js";
import { loadLongConversation, talker } from "./recall/long-conversation.js";
import { loadPeerStores, type PeerStores } from "./recall/peer-stores.js";
import { question, seeded, sentence } from "./recall/sentences.js";
import { measureWrites } from "./recall/write-cost.js";
import { percentile, printTable } from "./table.js";

const sizes = [50, 1_000, 5_000, 20_000] as const;
const rows = 50_000;
const growth = 20;
const questions = 120;
const userOf = (size: number) => `user${size}`;

const database = await openBenchDatabase();
const connectionString = process.env.DATABASE_URL;
console.log(`Database: ${database.name}`);
try {
  const embeddings = new HashingEmbeddings({ dimensions: 384 });
  const memories = await makeMemories(embeddings);
  // A connection string where there is one: pools made by the library keep plans.
  const options = { database: connectionString ?? database.pool, schema: database.schema, embeddings };
  const memory = createMemory({
    ...options,
    model: new OfflineChatModel(),
    // No memories but those that are loaded.
    config: { memories: { extract: false, episodes: false } },
  });
  await memory.setup();
  // The first vector makes the space that the rows are loaded into.
  await memory.query({ scope: { userId: "nobody" }, query: "first" });
  await loadMemories(database.pool, database.schema, memories);
  for (const size of sizes) await talk(memory, userOf(size));

  const peers = connectionString
    ? await loadPeerStores(
        connectionString,
        database.pool,
        `${database.schema}_peer`,
        embeddings,
        memories,
        new Set(sizes.map(userOf)),
      )
    : null;
  const speedup: Record<string, number> = {};
  for (const size of sizes) speedup[size] = await compare(memory, peers, size, memories);
  const conversation = await compareConversation(memory, memories);
  const roundTrips = await countRoundTrips();
  const writes = await measureWrites(memory, peers?.postgres ?? null);
  const edgeMs = await measureEdges(options);
  await peers?.close();

  const growthP95 = connectionString ? await measureGrowth(memory, memories) : null;
  if (!connectionString)
    console.log("\nDATABASE_URL is not set: PostgresStore and growth to 1,000,000 rows are skipped.");
  await memory.close();
  console.log(`\n${JSON.stringify({ speedup, conversation, growthP95, roundTrips, ...writes, edgeMs })}`);
} finally {
  await database.pool.query(`drop schema if exists "${database.schema}_peer" cascade`);
  await database.close();
}

/** Memories of the measured users, and of 400 others. */
async function makeMemories(embeddings: HashingEmbeddings): Promise<LoadedMemory[]> {
  const random = seeded(7);
  const users = sizes.flatMap((size) => Array.from({ length: size }, () => userOf(size)));
  const others = Array.from({ length: rows - users.length }, (_, index) => `other${index % 400}`);
  const texts = [...users, ...others].map((user) => ({ user, text: sentence(random) }));
  const vectors = await embeddings.embedDocuments(texts.map(({ text }) => text));
  return texts.map((entry, index) => ({ ...entry, vector: vectors[index] as number[] }));
}

/** A thread with a summary and something said since, so that recall has all of its work to do. */
async function talk(memory: Memory, userId: string): Promise<void> {
  for (let round = 0; round < 5; round++) {
    await memory.remember({
      scope: { userId },
      threadId: `thread-${userId}`,
      messages: [new HumanMessage(`Let us talk about plan ${round}.`), new AIMessage("Gladly, go on.")],
    });
    if (round < 4) await memory.idle();
  }
  await memory.idle();
}

function asked(size: number, memories: readonly LoadedMemory[]): string[] {
  const random = seeded(size);
  const own = memories.filter(({ user }) => user === userOf(size)).map(({ text }) => text);
  return questionsAbout(own, random);
}

function questionsAbout(texts: readonly string[], random: () => number): string[] {
  return Array.from({ length: questions }, () =>
    question(random, texts[Math.floor(random() * texts.length)] as string),
  );
}

async function times(
  queries: readonly string[],
  search: (query: string) => Promise<unknown>,
): Promise<number[]> {
  const result: number[] = [];
  for (const [index, query] of queries.entries()) {
    const startedAt = performance.now();
    await search(query);
    // The first ones warm caches and plans.
    if (index >= 20) result.push(performance.now() - startedAt);
  }
  return result;
}

async function compare(
  memory: Memory,
  peers: PeerStores | null,
  size: number,
  memories: readonly LoadedMemory[],
): Promise<number> {
  const userId = userOf(size);
  const queries = asked(size, memories);
  const scope = { userId };
  const threadId = `thread-${userId}`;
  const namespace = ["memories", userId];
  const measured = {
    "Mnemograph: whole recall": await times(queries, (query) => memory.recall({ scope, threadId, query })),
    ...(peers && {
      "LangGraph PostgresStore: vector search": await times(queries, (query) =>
        peers.postgres.search(namespace, { query, limit: 8 }),
      ),
      "LangGraph InMemoryStore: vector search": await times(queries, (query) =>
        peers.inMemory.search(namespace, { query, limit: 8 }),
      ),
    }),
  };
  printTable(
    `One user's ${size.toLocaleString("en")} memories among ${rows.toLocaleString("en")}`,
    Object.entries(measured).map(([what, ms]) => ({
      what,
      "p50 ms": percentile(ms, 0.5),
      "p95 ms": percentile(ms, 0.95),
    })),
  );
  const theirs = measured["LangGraph PostgresStore: vector search"];
  return theirs
    ? percentile(theirs, 0.5) / percentile(measured["Mnemograph: whole recall"], 0.5)
    : Number.NaN;
}

/** p50 of a user with 2,000 messages and the 1,000 facts learned from them ÷ of one with 1,000 facts from nowhere. */
async function compareConversation(memory: Memory, memories: readonly LoadedMemory[]): Promise<number> {
  const texts = await loadLongConversation(memory);
  await database.pool.query("vacuum analyze");
  const measured = {
    "1,000 facts learned from 2,000 messages of one thread": await times(
      questionsAbout(texts, seeded(12)),
      (query) => memory.recall({ scope: talker.scope, threadId: "a new one", query }),
    ),
    "1,000 facts without a source": await times(asked(1_000, memories), (query) =>
      memory.recall({ scope: { userId: userOf(1_000) }, threadId: "another new one", query }),
    ),
  };
  const [talked = Number.NaN, plain = Number.NaN] = Object.values(measured).map((ms) => percentile(ms, 0.5));
  printTable(
    "What a conversation adds to recall",
    Object.entries(measured).map(([what, ms]) => ({
      what,
      "p50 ms": percentile(ms, 0.5),
      "p95 ms": percentile(ms, 0.95),
    })),
  );
  return talked / plain;
}

async function countRoundTrips(): Promise<number> {
  const { pool, schema } = database;
  const memory = createMemory({ database: pool, schema });
  const counted = countStatements(pool);
  await memory.recall({
    scope: { userId: userOf(1_000) },
    threadId: "thread-user1000",
    query: "What is planned?",
  });
  return counted.stop();
}

/** p95 of the user with 1,000 memories: after the table has grown to a million rows ÷ before. */
async function measureGrowth(memory: Memory, memories: readonly LoadedMemory[]): Promise<number> {
  const userId = userOf(1_000);
  const run = async () =>
    percentile(
      await times(asked(1_000, memories), (query) =>
        memory.recall({ scope: { userId }, threadId: `thread-${userId}`, query }),
      ),
      0.95,
    );
  const before = await run();
  await multiplyMemories(database.pool, database.schema, growth - 1);
  const after = await run();
  printTable("p95 of one user's 1,000 memories as the table grows", [
    { rows, "p95 ms": before },
    { rows: rows * growth, "p95 ms": after },
  ]);
  return after / before;
}
