import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createGate } from "../../../src/testing/index.js";
import { taskModel } from "../../support/task-model.js";
import { useTestDatabase } from "../../support/test-database.js";
import { newAddress, openThread, say } from "../../support/thread-facts.js";
import { watchedPool } from "../../support/watched-pool.js";
import {
  config,
  insightEventsOf,
  insightsOf,
  insightWorkOf,
  learns,
  understands,
} from "./insight-memory.js";

const db = useTestDatabase();
const hourMs = 3_600_000;

describe("runs for insights", () => {
  it("Insights are made at most once a day and after new messages, across restarts and manual runs", async () => {
    let now = new Date("2026-03-01T09:00:00Z");
    const model = understands({ summary: "The user is patient.", evidence: [1] });
    const open = () => db.memory({ model, config, clock: () => now });
    const calls = () => model.prompts("user_insights").length;
    const thread = newAddress();
    const first = open();
    await say(first, thread, "The user drinks tea.");
    expect([await first.upkeep(), calls()]).toEqual([1, 1]);

    await say(first, thread, "The user runs.");
    now = new Date(now.getTime() + 23 * hourMs);
    const second = open();
    expect([await second.upkeep(), calls()]).toEqual([0, 1]);
    expect(await second.graphs().insights.invoke({ scope: thread.scope })).toMatchObject({
      status: "deferred",
    });
    expect([await second.upkeep(), calls()]).toEqual([0, 1]);
    now = new Date(now.getTime() + hourMs);
    expect([await second.upkeep(), calls()]).toEqual([1, 2]);
    const latest = model.prompts("user_insights").at(-1);
    expect(latest).toContain("The user runs.</memory>");
    expect(latest).not.toContain("The user drinks tea.</memory>");

    now = new Date(now.getTime() + 48 * hourMs);
    const third = open();
    expect([await third.upkeep(), calls()]).toEqual([0, 2]);
    expect(await third.graphs().insights.invoke({ scope: thread.scope })).toMatchObject({
      status: "skipped",
    });
    expect(calls()).toBe(2);
    const doneAt = (await insightWorkOf(db, thread))?.done_at;
    await say(third, thread, "The user swims.");
    expect([await third.upkeep(), calls()]).toEqual([1, 3]);
    expect((await insightWorkOf(db, thread))?.done_at).not.toEqual(doneAt);
    // The same insight again is the same memory.
    expect(await insightsOf(third, thread)).toMatchObject([{ seenCount: 3 }]);
  });

  it("A run without insights counts as a run", async () => {
    const model = understands();
    const { memory, thread } = openThread(db, { model, config });
    await say(memory, thread, "The user drinks tea.");
    await memory.upkeep();
    await say(memory, thread, "The user runs.");
    await memory.upkeep();
    expect(model.prompts("user_insights")).toHaveLength(1);
    expect([await insightsOf(memory, thread), await insightEventsOf(db, thread)]).toEqual([
      [],
      ["classify skipped none"],
    ]);
  });

  it("Insights need a user with facts, and can be turned off", async () => {
    const model = understands({ summary: "The user is calm.", evidence: [1] });
    const memory = db.memory({ model, config });
    const scope = { appId: randomUUID() };
    await memory.memories.add({ scope, memories: { text: "The user drinks tea." } });
    expect(await memory.graphs().insights.invoke({ scope })).toMatchObject({
      status: "skipped",
      reason: "no_user",
    });
    expect(
      await memory.graphs().insights.invoke({ scope: { userId: randomUUID() } }),
    ).toMatchObject({ status: "skipped", reason: "not_found" });
    const off = db.memory({ model, config: { ...config, insights: { enabled: false } } });
    const thread = newAddress();
    await say(off, thread, "The user drinks tea.");
    expect([await off.upkeep(), await insightWorkOf(db, thread)]).toEqual([0, undefined]);
  });

  it("A turn neither makes insights nor waits for them, and takes no more round trips", async () => {
    const gate = createGate();
    const model = taskModel({
      ...learns,
      user_insights: async () => {
        await gate.wait();
        return { structured: { insights: [{ summary: "The user is calm.", evidence: [1] }] } };
      },
    });
    const { pool, statements } = watchedPool(db.pool);
    const { memory, thread } = openThread(db, {
      database: pool,
      model,
      config: { ...config, jobs: { concurrency: 1 } },
      jobs: "background",
    });
    await say(memory, thread, "The user drinks tea.");
    await expect
      .poll(async () => {
        await memory.upkeep();
        return gate.waiting;
      })
      .toBe(1);
    statements.length = 0;
    await say(memory, thread, "The user runs.");
    await memory.recall({ ...thread, query: "What does the user drink?" });
    expect(statements).toHaveLength(2);
    expect(await insightsOf(memory, thread)).toEqual([]);
    gate.open();
    await memory.idle();
    expect(await insightsOf(memory, thread)).toHaveLength(1);
  });
});
