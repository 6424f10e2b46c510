import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import pg from "pg";
import { afterAll, describe, expect, inject, it } from "vitest";
import { type Memory, withMemory } from "../../src/index.js";
import { recordingLogger } from "../support/recording-logger.js";
import { type SilentProxy, silentProxy } from "../support/silent-proxy.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { createTestMemory } from "../support/test-memory.js";
import {
  type AnyGraph,
  answering,
  chatAgent,
  newThread,
  recorded,
  say,
  streamed,
  transcript,
} from "./conversation.js";

const db = useTestDatabase();
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

/** A busy machine takes most of a second for what a database that answers is asked here. */
const deadlineMs = 1_300;
/** A call that is refused during a pause waits for nothing, and says when the next probe is. */
const refusedAtOnce = { code: "DATABASE_UNAVAILABLE", details: { retryInMs: expect.any(Number) } };

/**
 * A pool that is made here waits up to ten seconds for a connection: that takes too long to be
 * tried each time.
 */
async function throughProxy() {
  const proxy = await silentProxy(inject("databaseUrl") ?? "");
  const logger = recordingLogger();
  // Sweeps in the background have no deadline, and may keep some clients.
  const pool = new pg.Pool({
    connectionString: proxy.url,
    max: 8,
    connectionTimeoutMillis: deadlineMs,
  });
  pool.on("error", () => {});
  const config = {
    database: { statementTimeoutMs: deadlineMs },
    retrieval: { timeoutMs: deadlineMs },
    memories: { extract: false, episodes: false },
  };
  const memory = createTestMemory({ database: pool, schema: db.schema, logger, config });
  closing.push(async () => {
    proxy.close();
    await memory.close();
    await pool.end();
  });
  return { proxy, memory, logger };
}

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

async function silence(proxy: SilentProxy, memory: Memory) {
  proxy.silent = true;
  while (memory.databaseStatus().state === "up")
    await memory.threads.list({ scope: { userId: "x" } }).catch(() => {});
}
const back = (memory: Memory) => expect.poll(() => memory.databaseStatus().state).toBe("up");

describe.skipIf(!onServer())("a silent database (server only)", () => {
  it("A silent database stalls at most three turns, and later ones go on without memory until it answers", async () => {
    const { proxy, memory, logger } = await throughProxy();
    const model = answering();
    const compiled = withMemory(chatAgent(model), memory).compile({
      checkpointer: new MemorySaver(),
    });
    const graph = compiled as unknown as AnyGraph;
    const thread = newThread();
    const turn = (text: string) =>
      streamed(graph, { messages: [new HumanMessage(text)] }, { ...thread, streamMode: "custom" });
    await turn("question 1");

    proxy.silent = true;
    const first = [];
    for (const n of [2, 3, 4]) first.push(...(await turn(`question ${n}`)));
    expect(first).toContainEqual(
      expect.objectContaining({ type: "memory.database", status: "skipped", detail: "paused" }),
    );

    // "skipped" is what is refused without a try.
    expect(await turn("question 5")).toMatchObject([
      { type: "memory.recall", status: "skipped", detail: "DATABASE_UNAVAILABLE" },
      { type: "memory.remember", status: "skipped", detail: "DATABASE_UNAVAILABLE" },
    ]);
    expect(model.calls).toHaveLength(5);
    expect(logger.lines.filter((line) => line.includes("turns go on without memory"))).toHaveLength(
      1,
    );
    expect(
      logger.lines.filter((line) => line.startsWith("error: recall failed")).length,
    ).toBeLessThan(4);
    expect(memory.databaseStatus()).toMatchObject({
      state: "paused",
      retryInMs: expect.any(Number),
    });

    proxy.silent = false;
    await back(memory);
    expect(await turn("question 6")).toContainEqual(
      expect.objectContaining({ type: "memory.remember", status: "ok" }),
    );
    expect(memory.databaseStatus()).toEqual({ state: "up", silentMs: null, retryInMs: null });
    expect(await transcript(db, thread)).toEqual(recorded(1, 2, 3, 4, 5, 6));
    expect(logger.lines.filter((line) => line.includes("answers again"))).toHaveLength(1);
    await expect
      .poll(() => memory.events.list({ step: "database" }))
      .toContainEqual(
        expect.objectContaining({
          op: "resume",
          status: "ok",
          detail: expect.stringMatching(/calls refused/),
        }),
      );
  });

  it("With onError `throw` or memory's checkpointer a silent database fails turns at once", async () => {
    const { proxy, memory } = await throughProxy();
    const throwing = withMemory(chatAgent(answering()), memory, { onError: "throw" }).compile();
    const own = withMemory(chatAgent(answering()), memory).compile({
      checkpointer: memory.checkpointer(),
    });
    const thread = newThread();
    await say(own, "hello", thread);
    await silence(proxy, memory);
    for (const graph of [throwing, own]) {
      expect(await errorOf(say(graph, "hello", thread))).toMatchObject(refusedAtOnce);
    }
    proxy.silent = false;
    await back(memory);
    await say(own, "hello again", thread);
    expect(await transcript(db, thread)).toEqual(["hello", "answer 1", "hello again", "answer 2"]);
  });

  it("The checkpointer's statements end at their deadlines when the database is silent", async () => {
    const { proxy, memory } = await throughProxy();
    const graph = withMemory(chatAgent(answering()), memory).compile({
      checkpointer: memory.checkpointer(),
    });
    const thread = newThread();
    await say(graph, "hello", thread);
    proxy.silent = true;
    expect(await errorOf(graph.getState(thread))).toMatchObject({
      code: expect.stringMatching(/^DATABASE_(UNAVAILABLE|TIMEOUT)$/),
    });
  });

  it("A silent database's memory refuses runs without a user, and a stranger's run when it is back", async () => {
    const { proxy, memory } = await throughProxy();
    const graph = withMemory(chatAgent(answering()), memory).compile({
      checkpointer: new MemorySaver(),
    });
    const thread = newThread();
    await say(graph, "mine", thread);
    await silence(proxy, memory);
    const { thread_id } = thread.configurable;
    const nobody = { configurable: { thread_id } };
    expect(await errorOf(say(graph, "I am nobody", nobody as never))).toMatchObject({
      code: "SCOPE_REQUIRED",
    });
    proxy.silent = false;
    await back(memory);
    const eve = { configurable: { thread_id, user_id: "eve" } };
    expect(await errorOf(say(graph, "I am Eve", eve as never))).toMatchObject({
      code: "THREAD_FORBIDDEN",
    });
    expect(await transcript(db, thread)).toEqual(["mine", "answer 1"]);
  });
});
