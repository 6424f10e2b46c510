import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, describe, expect, inject, it } from "vitest";
import { MemoryError } from "../../src/errors.js";
import type { Memory } from "../../src/memory.js";
import { toMemoryError } from "../../src/postgres/database-error.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { silentLogger } from "../support/silent-logger.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { createTestMemory } from "../support/test-memory.js";
import { newAddress, openThread, say, textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const pools: pg.Pool[] = [];
afterAll(() => Promise.all(pools.map((pool) => pool.end())));

/** The server's address, for sessions with this setting, as a role may have it. */
function urlWith(setting: string): string {
  const url = new URL(inject("databaseUrl") ?? "");
  url.searchParams.set("options", `-c ${setting}`);
  return url.href;
}

function poolOf(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 8 });
  pools.push(pool);
  return pool;
}

/** Eight calls at once, in two conversations of one user. */
async function writeAtOnce(memory: Memory): Promise<void> {
  const thread = newAddress();
  const { scope } = thread;
  const texts = ["apples", "pears", "plums", "figs"].map((fruit) => `The user likes ${fruit}.`);
  await Promise.all([
    ...texts.map((text) => memory.memories.add({ scope, memories: { text } })),
    ...texts.map((text, at) =>
      say(memory, { scope, threadId: `${thread.threadId}${at % 2}` }, text),
    ),
  ]);
  const found = await textsOf(memory, thread);
  await memory.forget({ scope });
  expect(found.toSorted()).toEqual(texts.toSorted());
}

describe.skipIf(!onServer())("sessions of a role with settings of its own (server only)", () => {
  it.each([
    ["its own", "datestyle=German", urlWith],
    ["its own", "default_transaction_isolation=serializable", urlWith],
    [
      "the caller's",
      "default_transaction_isolation=serializable",
      (s: string) => poolOf(urlWith(s)),
    ],
  ])("A memory on %s pool writes, dates and erases at once: %s", async (_, setting, databaseOf) => {
    const memory = db.memory({ database: databaseOf(setting) });
    await writeAtOnce(memory);
    await writeAtOnce(memory);
    const { length } = (await memory.erasures.list({})).filter(({ endedAt }) => endedAt !== null);
    expect(length).toBeGreaterThan(1);
  });

  it("A pool whose sessions a failover left read-only is used on, with new ones", async () => {
    const pool = poolOf(inject("databaseUrl") ?? "");
    const { memory, thread, scope } = openThread(db, { database: pool });
    const old = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
    for (const client of old) {
      await client.query("set default_transaction_read_only to on");
      client.release();
    }
    await say(memory, thread, "I keep bees.");
    await memory.memories.add({ scope, memories: { text: "The user keeps bees." } });
    expect((await memory.threads.messages(thread)).length).toBe(2);
    expect(await textsOf(memory, thread)).toEqual(["The user keeps bees."]);
  });

  it("A lock's timeout is a timeout, and names what it may be of", async () => {
    const { memory, scope } = openThread(db, { database: urlWith("lock_timeout=50") });
    await memory.memories.add({ scope, memories: { text: "The user keeps bees." } });
    const holder = await db.pool.connect();
    await holder.query("begin");
    await holder.query(`select from "${db.schema}".owner where user_id = $1 for update`, [
      scope.userId,
    ]);
    const adding = memory.memories.add({ scope, memories: { text: "The user has a dog." } });
    await expect(adding).rejects.toMatchObject({
      code: "DATABASE_TIMEOUT",
      message: expect.stringMatching(/lock timeout.*a timeout of the role/),
    });
    await holder.query("rollback");
    holder.release();
  });
});

it("A transaction's timeout is one, and an idle session that ended is a lost connection", () => {
  const codeOf = (code: string) => toMemoryError(Object.assign(new Error("ended"), { code }), "m");
  expect(MemoryError.is(codeOf("25P04"), "DATABASE_TIMEOUT")).toBe(true);
  for (const code of ["25P03", "57P05"])
    expect(MemoryError.is(codeOf(code), "DATABASE_UNAVAILABLE")).toBe(true);
});

it.skipIf(!onServer())(
  "A database that lost pgvector is named as that, and turns go on without it (server only)",
  async () => {
    const name = `vectors_${randomUUID().slice(0, 8)}`;
    await db.pool.query(`create database ${name}`);
    const url = new URL(inject("databaseUrl") ?? "");
    url.pathname = `/${name}`;
    const pool = new pg.Pool({ connectionString: url.href, max: 2 });
    const embeddings = new HashingEmbeddings({ dimensions: 16 });
    const memory = createTestMemory({ database: pool, embeddings, logger: silentLogger });
    await memory.setup();
    await pool.query("drop extension vector cascade");
    const { scope, threadId } = newAddress();
    const add = () => memory.memories.add({ scope, memories: { text: "Tea." } });
    await expect(add()).rejects.toThrow(/Embeddings need pgvector/);
    expect((await memory.promptFor({ scope, threadId, query: "Tea?" })).messages).toHaveLength(1);
    await pool.query("create extension vector");
    await memory.query({ scope, query: "Tea?" }).catch(() => {});
    await pool.query("drop extension vector cascade");
    await expect(add()).rejects.toThrow(/Embeddings need pgvector/);
    await memory.close();
    await pool.end();
    await db.pool.query(`drop database ${name}`);
  },
);
