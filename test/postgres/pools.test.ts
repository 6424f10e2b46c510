import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import pg from "pg";
import { afterAll, describe, expect, inject, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import { withMemory } from "../../src/langgraph/wrap/with-memory.js";
import type { Memory } from "../../src/memory.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { recordingLogger } from "../support/recording-logger.js";
import { silentLogger } from "../support/silent-logger.js";
import { silentProxy } from "../support/silent-proxy.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const folder = mkdtempSync(join(tmpdir(), "mnemograph-pools-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const scope = { userId: "ana" };
const hello = (threadId: string) => ({ scope, threadId, messages: [new HumanMessage("hello")] });
const closed = expect.objectContaining({ code: "CLOSED" });

const everyCall = (memory: Memory) => [
  () => memory.setup(),
  () => memory.record(hello("closed")),
  () => memory.recall({ scope, threadId: "closed" }),
  () => memory.remember(hello("closed")),
  () => memory.upkeep(),
  () => memory.summaries.list({ scope, threadId: "closed" }),
  () => memory.threads.list({ scope }),
];

describe("the caller's pool", () => {
  it("close() keeps the caller's pool open, is harmless twice, and refuses every call after it", async () => {
    const memory = db.memory({ model: new OfflineChatModel() });
    await memory.record(hello("mine"));
    await Promise.all([memory.close(), memory.close()]);
    await memory.close();
    for (const call of everyCall(memory)) await expect(call()).rejects.toThrow(closed);
    expect((await db.pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    expect((await db.memory().recall({ scope, threadId: "mine" })).lastSeq).toBe(0);
  });

  it("One connection serves setup, turns, summaries and checkpoints of five concurrent threads", async () => {
    const connectionString = inject("databaseUrl");
    const pool = connectionString === null ? db.pool : new pg.Pool({ connectionString, max: 1 });
    const schema = `single_${randomUUID().slice(0, 8)}`;
    const options = {
      model: new OfflineChatModel(),
      logger: silentLogger,
      config: { preset: "every-round" } as const,
    };
    const memory = createMemory({ database: pool, schema, ...options });
    await memory.setup();
    const agent = new StateGraph(MessagesAnnotation)
      .addNode("answer", () => ({ messages: [new AIMessage("noted")] }))
      .addEdge(START, "answer")
      .compile();
    const graph = withMemory(agent, memory, { session: "bounded" }).compile({
      checkpointer: memory.checkpointer(),
    });
    await Promise.all(
      ["a", "b", "c", "d", "e"].map(async (thread_id) => {
        for (let round = 0; round < 5; round++) {
          const messages = [new HumanMessage(`round ${round} of ${thread_id}`)];
          await graph.invoke({ messages }, { configurable: { thread_id, user_id: "ana" } });
        }
      }),
    );
    await memory.idle();
    expect((await memory.threads.list({ scope })).map((thread) => thread.messages)).toEqual([
      10, 10, 10, 10, 10,
    ]);
    const { rows } = await pool.query(`select from "${schema}".summary where status = 'completed'`);
    expect(rows.length).toBeGreaterThanOrEqual(5);
    await memory.close();
    expect(pool).toMatchObject({ totalCount: 1, waitingCount: 0 });
    await pool.query(`drop schema "${schema}" cascade`);
    if (pool !== db.pool) await pool.end();
  });
});

/** A pool of the caller with two clients and its own timeout. */
const smallPool = (connectionString: string) =>
  new pg.Pool({ connectionString, max: 2, connectionTimeoutMillis: 200 });

describe.skipIf(!onServer())("a pool whose clients are all in use (server only)", () => {
  it("A pool without a free client is no outage: calls say what to do, and succeed once a client is free", async () => {
    const pool = smallPool(inject("databaseUrl") ?? "");
    const memory = db.memory({ database: pool });
    const held = [await pool.connect(), await pool.connect()];
    const waiting = [
      ...["a", "b", "c", "d"].map((threadId) => memory.record(hello(threadId))),
      memory.checkpointer().getTuple({ configurable: { thread_id: "a", user_id: "ana" } }),
      memory.forget({ scope, dryRun: true }),
    ];
    for (const settled of await Promise.allSettled(waiting)) {
      expect(settled).toMatchObject({
        reason: {
          code: "DATABASE_UNAVAILABLE",
          message: expect.stringMatching(/no free client in time.*`max`/),
        },
      });
    }
    expect(memory.databaseStatus()).toEqual({ state: "up", silentMs: null, retryInMs: null });
    for (const client of held) client.release();
    expect((await memory.record(hello("a"))).recorded).toBe(1);
    await memory.close();
    await pool.end();
  });
});

describe.skipIf(!onServer())(
  "background work and a pool whose clients are all in use (server only)",
  () => {
    it("Background work waits for a free client, without a warning", async () => {
      const pool = smallPool(inject("databaseUrl") ?? "");
      const logger = recordingLogger();
      const memory = db.memory({ database: pool, jobs: "background", logger });
      const held = [await pool.connect(), await pool.connect()];
      const looking = memory.upkeep();
      let isOver = false;
      void looking.then(() => {
        isOver = true;
      });
      // Five times as long as a call waits for a client of this pool.
      await sleep(1_000);
      expect(isOver).toBe(false);
      for (const client of held) client.release();
      expect(await looking).toBeGreaterThanOrEqual(0);
      await memory.idle();
      expect(logger.lines.filter((line) => /^(warn|error)/.test(line))).toEqual([]);
      await memory.close();
      await pool.end();
    });
  },
);

describe.skipIf(!onServer())("a server that was away (server only)", () => {
  it("The first turn after the server is back succeeds, whenever it comes", async () => {
    const proxy = await silentProxy(inject("databaseUrl") ?? "");
    const memory = db.memory({ database: smallPool(proxy.url) });
    expect((await memory.record(hello("away"))).recorded).toBe(1);
    for (const pauseMs of [0, 700, 1_400]) {
      proxy.close();
      while (memory.databaseStatus().state === "up")
        await expect(memory.record(hello("away"))).rejects.toThrow(/does not answer/);
      const refusedAt = performance.now();
      await expect(memory.record(hello("away"))).rejects.toThrow(/has not answered for/);
      expect(performance.now() - refusedAt).toBeLessThan(1_000);
      await sleep(pauseMs);
      await proxy.open();
      expect((await memory.recall({ scope, threadId: "away" })).lastSeq).toBe(0);
      expect(memory.databaseStatus().state).toBe("up");
    }
    await memory.close();
    proxy.close();
  });
});

describe.skipIf(!onServer())("a pool whose attempts to connect get no answer (server only)", () => {
  it("A pool whose attempts to connect get no answer is an outage of the database", async () => {
    const proxy = await silentProxy(inject("databaseUrl") ?? "");
    const pool = smallPool(proxy.url);
    proxy.silent = true;
    const memory = db.memory({ database: pool });
    while (memory.databaseStatus().state === "up") {
      await expect(memory.record(hello("a"))).rejects.toThrow(/does not answer/);
    }
    expect(memory.databaseStatus().silentMs).toBeGreaterThanOrEqual(3_000);
    await memory.close();
    proxy.close();
    await pool.end();
  });
});

describe("the memory's own pool", () => {
  it.skipIf(!onServer())("close() ends the memory's own pool (server only)", async () => {
    const name = `close_${randomUUID().slice(0, 8)}`;
    const url = new URL(inject("databaseUrl") ?? "");
    url.searchParams.set("application_name", name);
    const connections = async () => {
      const { rows } = await db.pool.query(
        "select count(*)::int as count from pg_stat_activity where application_name = $1",
        [name],
      );
      return rows[0].count as number;
    };
    const model = new OfflineChatModel();
    const memory = createMemory({
      database: url.href,
      schema: db.schema,
      model,
      logger: silentLogger,
    });
    expect(await connections()).toBe(0);
    await memory.record(hello("ours"));
    expect(await connections()).toBe(1);
    await Promise.all([memory.close(), memory.close()]);
    await expect.poll(connections).toBe(0);
    for (const call of everyCall(memory)) await expect(call()).rejects.toThrow(closed);
  });

  it("A memory can be closed before the first use of its own pool", async () => {
    const memory = createMemory({
      database: { dataDir: join(folder, "never used") },
      logger: silentLogger,
    });
    await memory.close();
    await expect(memory.record(hello("t"))).rejects.toThrow(closed);
  });

  it.skipIf(!onServer())(
    "The memory's own pool survives the loss of its connections, in use or idle (server only)",
    async () => {
      const name = `lost_${randomUUID().slice(0, 8)}`;
      const url = new URL(inject("databaseUrl") ?? "");
      url.searchParams.set("application_name", name);
      const memory = createMemory({ database: url.href, schema: db.schema, logger: silentLogger });
      const cut = () =>
        db.pool.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1",
          [name],
        );

      await memory.record(hello("lost"));
      await cut();
      await memory.record(hello("lost"));

      let cutting = true;
      const cuts = (async () => {
        for (let left = 25; left > 0; left--) await cut().then(() => sleep(10));
        cutting = false;
      })();
      let recorded = 1;
      while (cutting) {
        await memory.record(hello("lost"));
        recorded++;
      }
      await cuts;
      expect((await memory.recall({ scope, threadId: "lost" })).lastSeq).toBe(recorded);
      await memory.close();
    },
  );
});
