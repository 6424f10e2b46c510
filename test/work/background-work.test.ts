import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import { createGate, ScriptedChatModel } from "../../src/testing/index.js";
import { recordingLogger } from "../support/recording-logger.js";
import { round } from "../support/spoken.js";
import { summariesOnly, summaryMemory } from "../support/summary-memory.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
const threeRounds = ["1", "2", "3"].flatMap(round);

/** A model that answers once its gate is open. */
function gated() {
  const gate = createGate();
  const replies = { structured: { reasoning: "…", summary: "made" } };
  return { gate, model: new ScriptedChatModel({ gate, replies: [replies], repeatLast: true }) };
}

describe("work in the background", () => {
  it("A model that thinks holds no connection, and with only one everything else goes on", async () => {
    const connectionString = inject("databaseUrl");
    const pool = connectionString === null ? db.pool : new pg.Pool({ connectionString, max: 1 });
    const { gate, model } = gated();
    const config = { jobs: { concurrency: 8 } };
    const memory = summaryMemory(db, { database: pool, model, jobs: "background", config });
    const threads = Array.from({ length: 5 }, (_, index) => ({
      scope,
      threadId: `thinking ${index}`,
    }));
    for (const thread of threads) await memory.remember({ ...thread, messages: threeRounds });
    await expect.poll(() => gate.waiting).toBe(5);

    for (const thread of threads) {
      expect((await memory.recall(thread)).processing).not.toBeNull();
      const next = await memory.remember({ ...thread, messages: round("4") });
      expect(next.summary).toEqual({ started: false, reason: "already_running" });
    }
    expect(await memory.setup()).toEqual([]);
    expect(pool.idleCount).toBe(pool.totalCount);

    gate.open();
    await memory.idle();
    for (const thread of threads) expect((await memory.recall(thread)).summary?.text).toBe("made");
    if (pool !== db.pool) await pool.end();
  });

  it("Both `idle` and `close` wait for work in the background, and after `close` none starts", async () => {
    const { gate, model } = gated();
    const memory = summaryMemory(db, { model, jobs: "background" });
    const thread = { scope, threadId: "closing" };
    await memory.idle();
    await memory.remember({ ...thread, messages: threeRounds });
    await expect.poll(() => gate.waiting).toBe(1);

    const ended: string[] = [];
    const idling = memory.idle().then(() => ended.push("idle"));
    const closing = memory.close().then(() => ended.push("close"));
    await db.memory().recall(thread);
    expect(ended).toEqual([]);
    gate.open();
    await Promise.all([idling, closing]);
    expect((await db.memory().recall(thread)).summary?.text).toBe("made");
    await expect(memory.recall(thread)).rejects.toThrow(
      expect.objectContaining({ code: "CLOSED" }),
    );
  });

  it("The first turn of a new process resumes what a dead process left behind", async () => {
    let now = Date.parse("2030-01-01T00:00:00Z");
    const clock = () => new Date(now);
    const dead = gated();
    const killed = summaryMemory(db, { model: dead.model, jobs: "background", clock });
    const thread = { scope, threadId: "left behind" };
    await killed.remember({ ...thread, messages: threeRounds });
    await expect.poll(() => dead.gate.waiting).toBe(1);

    now += 3_600_000;
    const alive = gated();
    alive.gate.open();
    const memory = summaryMemory(db, { model: alive.model, jobs: "background", clock });
    await memory.remember({ scope, threadId: "somebody else's", messages: round("1") });
    await memory.idle();
    expect(await memory.summaries.list(thread)).toMatchObject([{ status: "completed" }]);
    dead.gate.open();
    await killed.idle();
  });

  it("A sweep of the tables for due work is repeated", async () => {
    let now = Date.parse("2031-01-01T00:00:00Z");
    const clock = () => new Date(now);
    const { gate, model } = gated();
    gate.open();
    const memory = summaryMemory(db, {
      model,
      jobs: "background",
      clock,
      config: { jobs: { sweepIntervalMs: 20 } },
    });
    await memory.remember({ scope, threadId: "sweeper", messages: round("1") });
    await memory.idle();

    const broken = new ScriptedChatModel({ replies: [new Error("overloaded")] });
    const thread = { scope, threadId: "swept" };
    await summaryMemory(db, { model: broken, clock }).remember({
      ...thread,
      messages: threeRounds,
    });
    now += 3_600_000;
    await expect.poll(async () => (await memory.recall(thread)).summary?.text).toBe("made");
    await memory.close();
  });
});

it("Two memories of one process are independent in their work, logger, clock and end", async () => {
  const [one, other] = [gated(), gated()];
  const [oneLog, otherLog] = [recordingLogger(), recordingLogger()];
  const shared = { database: db.pool, schema: db.schema, config: summariesOnly };
  const first = createMemory({ ...shared, model: one.model, logger: oneLog });
  const second = createMemory({ ...shared, model: other.model, logger: otherLog });
  await first.remember({ scope, threadId: "first's", messages: threeRounds });
  await expect.poll(() => one.gate.waiting).toBe(1);
  await second.idle();
  await second.remember({ scope, threadId: "second's", messages: threeRounds });
  other.gate.open();
  await second.close();

  expect(otherLog.lines.join("\n")).toMatch(/Summarized messages 0-5 for second's/);
  expect(otherLog.lines.join("\n")).not.toMatch(/first's/);
  expect(await first.summaries.list({ scope, threadId: "first's" })).toMatchObject([
    { status: "processing" },
  ]);
  one.gate.open();
  await first.close();
  expect(oneLog.lines.join("\n")).toMatch(/Summarized messages 0-5 for first's/);
  expect(oneLog.lines.join("\n")).not.toMatch(/second's/);
  expect([one.model.calls.length, other.model.calls.length]).toEqual([1, 1]);
});

describe("the summarization graph", () => {
  it("The summarization graph summarises a thread now, and says why there is nothing to do", async () => {
    const { gate, model } = gated();
    gate.open();
    const memory = summaryMemory(db, { model });
    const thread = { scope, threadId: "by hand" };
    const graph = memory.graphs().summarization;
    const skipped = (reason: string) => ({ status: "skipped", reason, work: null });
    expect(await graph.invoke({ ...thread })).toMatchObject(skipped("not_found"));
    const listed = await memory.threads.list({ scope, limit: 1000 });
    expect(listed.map(({ threadId }) => threadId)).not.toContain("by hand");
    await memory.record({ ...thread, messages: threeRounds.slice(0, 2) });
    expect(await graph.invoke({ ...thread })).toMatchObject(skipped("too_early"));
    await memory.record({ ...thread, messages: threeRounds });
    expect(await graph.invoke({ ...thread })).toMatchObject({
      status: "completed",
      reason: null,
      summary: "made",
    });
    expect(await graph.invoke({ ...thread })).toMatchObject(skipped("nothing_new"));
    const claim = { id: 2 ** 40, ref: 1, lease: 1, attempt: 1, doneUntil: 0 };
    expect(await graph.invoke({ claim })).toMatchObject({ status: "lost" });
    await memory.close();
  });

  it("The summarization graph needs a model", async () => {
    const thread = { scope, threadId: "no model" };
    const memory = db.memory();
    await memory.record({ ...thread, messages: threeRounds });
    const ended = await memory.graphs().summarization.invoke({ ...thread });
    expect(ended).toMatchObject({ status: "failed", error: { code: "MODEL_REQUIRED" } });
  });
});
