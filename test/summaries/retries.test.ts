import { describe, expect, it } from "vitest";
import { ScriptedChatModel, type ScriptedReply } from "../../src/testing/index.js";
import { recordingLogger } from "../support/recording-logger.js";
import { round } from "../support/spoken.js";
import { summarisedThread } from "../support/summary-memory.js";
import { summaryTable } from "../support/summary-table.js";
import { useTestDatabase } from "../support/test-database.js";
import { eventsOf } from "../support/thread-facts.js";

// Upkeep looks at every thread: each test leaves nothing behind that is due.
const db = useTestDatabase();
const good = (summary: string): ScriptedReply => ({ structured: { reasoning: "…", summary } });
const threeRounds = [...round("1"), ...round("2"), ...round("3")];

describe("a failed summary", () => {
  const config = {
    summaries: { maxAttempts: 3, retryDelayMs: 1_000 },
    // No pause of the model.
    upkeep: { retryDelayMs: 0 },
  };

  it("A failed summary is retried after a doubling delay, with the same window", async () => {
    let now = Date.parse("2030-01-01T00:00:00Z");
    const broken = new Error("overloaded");
    const model = new ScriptedChatModel({ replies: [broken, broken, good("at last")] });
    const { memory, thread } = summarisedThread(db, { model, config, clock: () => new Date(now) });
    await memory.remember({ ...thread, messages: threeRounds });

    now += 999;
    expect(await memory.upkeep()).toBe(0);
    now += 1;
    expect(await memory.upkeep()).toBe(1);
    expect(await memory.summaries.list(thread)).toMatchObject([{ status: "failed" }]);
    now += 1_999;
    expect(await memory.upkeep()).toBe(0);
    now += 1;
    expect(await memory.upkeep()).toBe(1);
    expect(await memory.summaries.list(thread)).toMatchObject([
      { status: "completed", text: "at last", startSeq: 0, endSeq: 5, error: null },
    ]);
    expect(await memory.upkeep()).toBe(0);
    const events = await eventsOf(db, thread, "summaries");
    expect(events.map((event) => event.split(" ")[1])).toEqual(["error", "error", "ok"]);
  });

  it("A failed summary is given up after the last attempt, and the next turn starts a fresh one", async () => {
    let now = Date.parse("2030-01-01T00:00:00Z");
    const model = new ScriptedChatModel({
      replies: [
        good("the first"),
        ...Array<Error>(3).fill(new Error("overloaded")),
        good("the next"),
      ],
    });
    const logger = recordingLogger();
    const { memory, thread } = summarisedThread(db, {
      model,
      config,
      logger,
      clock: () => new Date(now),
    });
    await memory.remember({ ...thread, messages: threeRounds });
    await memory.remember({ ...thread, messages: round("4") });
    for (const wait of [1_000, 2_000, 4_000, 3_600_000]) {
      now += wait;
      await memory.upkeep();
    }
    const [, failed] = await memory.summaries.list(thread);
    expect(failed).toMatchObject({ status: "failed" });
    expect(await memory.jobs.list({ kind: "summaries", state: "failed" })).toMatchObject([
      { threadId: thread.threadId, attempts: 3, dueAt: null },
    ]);
    expect(logger.lines.at(-1)).toMatch(/no further try\.$/);

    await memory.remember({ ...thread, messages: round("5") });
    expect(await summaryTable(memory, thread)).toEqual([
      [1, 0, 5, null, "completed"],
      [2, 0, 7, 1, "failed"],
      [3, 0, 9, 1, "completed"],
    ]);
    expect((await memory.recall(thread)).summary?.text).toBe("the next");
  });

  it("A failed summary is not retried once a newer turn has started another", async () => {
    let now = Date.parse("2030-01-01T00:00:00Z");
    const model = new ScriptedChatModel({ replies: [new Error("overloaded"), good("newer")] });
    const { memory, thread } = summarisedThread(db, { model, config, clock: () => new Date(now) });
    await memory.remember({ ...thread, messages: threeRounds });
    await memory.remember({ ...thread, messages: round("4") });
    now += 3_600_000;
    expect(await memory.upkeep()).toBe(0);
    expect(await summaryTable(memory, thread)).toEqual([
      [1, 0, 5, null, "failed"],
      [2, 0, 7, null, "completed"],
    ]);
  });
});
