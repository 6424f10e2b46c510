import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { summarySkipReason } from "../../src/summaries/summary-window.rule.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { round } from "../support/spoken.js";
import { summaryMemory } from "../support/summary-memory.js";
import { summaryTable } from "../support/summary-table.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
const numbered = () =>
  new ScriptedChatModel({
    replies: (_, index) => ({ structured: { reasoning: "…", summary: `summary ${index + 1}` } }),
  });

describe("summaries.everyMessages", () => {
  it("waits for so many messages after the first summary, in whichever process", async () => {
    const thread = { scope, threadId: "every 8" };
    const config = { summaries: { everyMessages: 8 } };
    const reasons: string[] = [];
    for (let number = 1; number <= 12; number++) {
      const memory = summaryMemory(db, { model: numbered(), config });
      const { summary } = await memory.remember({ ...thread, messages: round(`e${number}`) });
      reasons.push(summary.started ? `${summary.window.startSeq}-${summary.window.endSeq}` : summary.reason);
    }
    const waits = Array<string>(3).fill("too_few_new");
    expect(reasons).toEqual([
      "too_early",
      "too_early",
      "0-5",
      ...waits,
      "0-13",
      ...waits,
      "8-21",
      "too_few_new",
    ]);
  });

  it("shows all that no summary has, and the recent messages before it", async () => {
    const thread = { scope, threadId: "gap of 6" };
    const memory = summaryMemory(db, { model: numbered(), config: { summaries: { everyMessages: 8 } } });
    for (let number = 1; number <= 6; number++)
      await memory.remember({ ...thread, messages: round(`g${number}`) });
    const { recent, gap, leftOut } = await memory.recall(thread);
    expect(recent.map(({ id }) => id)).toEqual(["1", "2", "3"].flatMap((n) => [`g${n}-q`, `g${n}-a`]));
    expect(gap.map(({ id }) => id)).toEqual(["4", "5", "6"].flatMap((n) => [`g${n}-q`, `g${n}-a`]));
    expect(leftOut).toBeNull();
  });

  it("does not wait where few messages have many words", async () => {
    const thread = { scope, threadId: "many words" };
    const config = { summaries: { everyMessages: 20, afterTokens: 1_000 } };
    const memory = summaryMemory(db, { model: numbered(), config });
    for (const number of ["1", "2", "3", "4"])
      await memory.remember({ ...thread, messages: round(`w${number}`) });
    const long = round("long").map((message) => Object.assign(message, { content: "word ".repeat(500) }));
    const { summary } = await memory.remember({ ...thread, messages: long });
    expect(summary).toMatchObject({ started: true });
  });

  it("tries again with the next round after a failure", async () => {
    const thread = { scope, threadId: "failed" };
    const model = new ScriptedChatModel({
      replies: (_, index) =>
        index === 1
          ? new Error("overloaded")
          : { structured: { reasoning: "…", summary: `summary ${index}` } },
    });
    const memory = summaryMemory(db, { model, config: { summaries: { everyMessages: 4 } } });
    const started: boolean[] = [];
    for (let number = 1; number <= 7; number++) {
      started.push((await memory.remember({ ...thread, messages: round(`f${number}`) })).summary.started);
    }
    expect(started).toEqual([false, false, true, false, true, true, false]);
  });

  it("is never reached sooner than configured, nor later", () => {
    const counts = fc.integer({ min: 1, max: 30 });
    fc.assert(
      fc.property(counts, counts, (unsummarised, everyMessages) => {
        const thread = { lastSeq: 50, summarisedSeq: 50 - unsummarised, processing: false, afterSeq: 5 };
        const counts = { messages: 51, unsummarised, unsummarisedBytes: 0 };
        const reason = summarySkipReason({ ...thread, ...counts, everyMessages, afterTokens: 16_000 });
        expect(reason).toBe(unsummarised < everyMessages ? "too_few_new" : null);
      }),
    );
  });
});

describe("a thread that was long before its first summary", () => {
  const rounds = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => round(`l${from + index}`)).flat();

  it("is summarised whole, once; then the window grows shorter by and by", async () => {
    const model = numbered();
    const memory = summaryMemory(db, { model });
    const thread = { scope, threadId: "adopted" };
    await memory.record({ ...thread, messages: rounds(1, 50) });
    const { summary } = await memory.remember({ ...thread, messages: rounds(51, 51) });
    expect(summary).toMatchObject({ window: { startSeq: 0, endSeq: 101 } });
    const prompt = model.calls[0]!.messages.at(-1)!.text;
    for (const number of [1, 25, 51]) expect(prompt).toContain(`question of l${number}<`);
    expect(prompt).not.toContain("<drop");
    for (let number = 52; number <= 100; number++)
      await memory.remember({ ...thread, messages: rounds(number, number) });
    const table = await summaryTable(memory, thread);
    expect(table.slice(0, 3).map(([, start, end]) => [start, end])).toEqual([
      [0, 101],
      [4, 103],
      [8, 105],
    ]);
    expect(table.at(-1)!.slice(1, 3)).toEqual([186, 199]);
  });

  it("is summarised in pieces that the model can take, each message once", async () => {
    const model = numbered();
    const memory = summaryMemory(db, {
      model,
      config: { upkeep: { inputBudgetTokens: 400, mostPieces: 50 } },
    });
    const thread = { scope, threadId: "pieces" };
    await memory.remember({ ...thread, messages: rounds(1, 60) });
    expect(model.calls.length).toBeGreaterThan(3);
    const said = model.calls.map(({ messages }) => messages.at(-1)!.text).join("\n");
    for (let number = 1; number <= 60; number++) {
      expect(said.match(new RegExp(`question of l${number}<`, "g")), `${number}`).toHaveLength(1);
    }
    expect((await summaryTable(memory, thread)).map((row) => row.slice(1, 3))).toEqual([[0, 119]]);
  });

  it("loses nothing to summaries that failed for long", async () => {
    const model = new ScriptedChatModel({
      replies: (_, index) =>
        index > 0 && index < 30
          ? new Error("down")
          : { structured: { reasoning: "…", summary: `s${index}` } },
    });
    const memory = summaryMemory(db, { model });
    const thread = { scope, threadId: "outage" };
    for (let number = 1; number <= 40; number++)
      await memory.remember({ ...thread, messages: rounds(number, number) });
    const done = (await memory.summaries.list(thread)).filter(({ status }) => status === "completed");
    expect(done[0]).toMatchObject({ startSeq: 0, endSeq: 5 });
    expect(done[1]!.startSeq).toBe(6);
  });
});
