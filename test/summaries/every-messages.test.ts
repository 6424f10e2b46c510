import { describe, expect, it } from "vitest";
import { round } from "../support/spoken.js";
import { summarisedThread, summaryMemory } from "../support/summary-memory.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

describe("summaries.everyMessages", () => {
  it("summaries.everyMessages waits for that many messages after the first summary, across processes", async () => {
    const config = { summaries: { everyMessages: 8 } };
    const { thread, model } = summarisedThread(db);
    const reasons: string[] = [];
    for (let number = 1; number <= 12; number++) {
      const memory = summaryMemory(db, { model, config });
      const { summary } = await memory.remember({ ...thread, messages: round(`e${number}`) });
      reasons.push(
        summary.started ? `${summary.window.startSeq}-${summary.window.endSeq}` : summary.reason,
      );
    }
    const waits = Array<string>(3).fill("too_few_new");
    expect(reasons).toEqual([
      ...["too_early", "too_early", "0-5", ...waits],
      ...["0-13", ...waits, "8-21", "too_few_new"],
    ]);
  });

  it("A summary does not wait for everyMessages if few messages are long", async () => {
    const config = { summaries: { everyMessages: 20, afterTokens: 1_000 } };
    const { memory, thread, say } = summarisedThread(db, { config });
    for (const number of [1, 2, 3, 4]) await say(number);
    const long = round("long").map((message) =>
      Object.assign(message, { content: "word ".repeat(500) }),
    );
    expect((await memory.remember({ ...thread, messages: long })).summary).toMatchObject({
      started: true,
    });
  });
});
