import { describe, expect, it } from "vitest";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { round } from "../support/spoken.js";
import { summarisedThread, summaryMemory } from "../support/summary-memory.js";
import { summaryTable } from "../support/summary-table.js";
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

  it("A failed summary with everyMessages is tried again with the next turn", async () => {
    const made = { structured: { reasoning: "…", summary: "summary" } };
    const model = new ScriptedChatModel({ replies: [made, new Error("overloaded"), made] });
    const { say } = summarisedThread(db, { model, config: { summaries: { everyMessages: 4 } } });
    const started: boolean[] = [];
    for (let number = 1; number <= 7; number++) started.push((await say(number)).started);
    expect(started).toEqual([false, false, true, false, true, true, false]);
  });
});

it("A thread that was long before its first summary is summarised whole once, then in shorter windows", async () => {
  const { memory, model, thread, say } = summarisedThread(db);
  await memory.record({
    ...thread,
    messages: Array.from({ length: 50 }, (_, index) => round(`${index + 1}`)).flat(),
  });
  expect(await say(51)).toMatchObject({ window: { startSeq: 0, endSeq: 101 } });
  const prompt = model.calls[0]!.messages.at(-1)!.text;
  for (const number of [1, 25, 51]) expect(prompt).toContain(`question of ${number}<`);
  expect(prompt).not.toContain("<drop");
  for (let number = 52; number <= 100; number++) await say(number);
  const table = await summaryTable(memory, thread);
  expect(table.slice(0, 3).map(([, start, end]) => [start, end])).toEqual([
    [0, 101],
    [4, 103],
    [8, 105],
  ]);
  expect(table.at(-1)!.slice(1, 3)).toEqual([186, 199]);
});
