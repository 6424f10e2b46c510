import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { createGate, type Gate, ScriptedChatModel } from "../../src/testing/index.js";
import { recordingLogger } from "../support/recording-logger.js";
import { round } from "../support/spoken.js";
import { summaryMemory } from "../support/summary-memory.js";
import { summaryPrompt } from "../support/summary-prompt.js";
import { summaryTable } from "../support/summary-table.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
const numbered = (gate: Gate) =>
  new ScriptedChatModel({
    gate,
    replies: (_, index) => ({ structured: { reasoning: "…", summary: `summary ${index + 1}` } }),
  });

/** Completes the summary in progress, as in a pause of the user. */
async function complete(memory: Memory, gate: Gate): Promise<void> {
  gate.open();
  await memory.idle();
  gate.close();
}

const seqsOf = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

it("Each of ten turns sees the latest complete summary and its gap, and starts the next if none runs", async () => {
  const gate = createGate();
  const memory = summaryMemory(db, { model: numbered(gate), jobs: "background" });
  const thread = { scope, threadId: "ten rounds" };
  const caughtUpBefore = new Set([4, 6, 8, 10]);
  const timeline: unknown[] = [];
  for (let number = 1; number <= 10; number++) {
    if (caughtUpBefore.has(number)) await complete(memory, gate);
    const { summary, gap, processing } = await memory.recall(thread);
    const { summary: made } = await memory.remember({ ...thread, messages: round(`r${number}`) });
    timeline.push([
      number,
      summary && `${summary.text}: ${summary.startSeq}-${summary.endSeq}, ${summary.endMessageId}`,
      gap.map((message) => message.id).join(" "),
      processing && `${processing.startSeq}-${processing.endSeq}`,
      made.started ? `${made.window.startSeq}-${made.window.endSeq}` : made.reason,
    ]);
  }
  expect(timeline).toEqual([
    [1, null, "", null, "too_early"],
    [2, null, "r1-q r1-a", null, "too_early"],
    [3, null, "r1-q r1-a r2-q r2-a", null, "0-5"],
    [4, "summary 1: 0-5, r3-a", "", null, "0-7"],
    [5, "summary 1: 0-5, r3-a", "r4-q r4-a", "0-7", "already_running"],
    [6, "summary 2: 0-7, r4-a", "r5-q r5-a", null, "0-11"],
    [7, "summary 2: 0-7, r4-a", "r5-q r5-a r6-q r6-a", "0-11", "already_running"],
    [8, "summary 3: 0-11, r6-a", "r7-q r7-a", null, "2-15"],
    [9, "summary 3: 0-11, r6-a", "r7-q r7-a r8-q r8-a", "2-15", "already_running"],
    [10, "summary 4: 2-15, r8-a", "r9-q r9-a", null, "6-19"],
  ]);
  expect(await summaryTable(memory, thread)).toEqual([
    [1, 0, 5, null, "completed"],
    [2, 0, 7, 1, "completed"],
    [3, 0, 11, 2, "completed"],
    [4, 2, 15, 3, "completed"],
    [5, 6, 19, 4, "processing"],
  ]);
  await complete(memory, gate);
  expect((await summaryTable(memory, thread)).at(-1)).toEqual([5, 6, 19, 4, "completed"]);
});

describe("the summaries of a thread", () => {
  it("Each summary is given the previous one, the new and the dropped messages, and is logged", async () => {
    const gate = createGate();
    const model = numbered(gate);
    const logger = recordingLogger();
    const memory = summaryMemory(db, { model, jobs: "background", logger });
    const thread = { scope, threadId: "timeline" };
    // Turns 4 and 9 begin before the summary is ready.
    const caughtUpBefore = new Set([5, 7, 8, 10]);
    for (let number = 1; number <= 10; number++) {
      if (caughtUpBefore.has(number)) await complete(memory, gate);
      await memory.remember({ ...thread, messages: round(`r${number}`) });
    }
    await complete(memory, gate);
    const inputs = model.calls.map((call) => {
      const { previous, added, dropped, dropBefore } = summaryPrompt(call);
      return { previous, added, dropped, dropBefore };
    });
    const previous = (covers: string, number: number) => ({ covers, text: `summary ${number}` });
    expect(inputs).toEqual([
      { previous: null, added: seqsOf(0, 5), dropped: [], dropBefore: null },
      { previous: previous("0-5", 1), added: seqsOf(6, 9), dropped: [], dropBefore: null },
      { previous: previous("0-9", 2), added: seqsOf(10, 13), dropped: [], dropBefore: null },
      { previous: previous("0-13", 3), added: [14, 15], dropped: [0, 1], dropBefore: 2 },
      {
        previous: previous("2-15", 4),
        added: seqsOf(16, 19),
        dropped: seqsOf(2, 5),
        dropBefore: 6,
      },
    ]);
    expect(summaryPrompt(model.calls[1]).text).toContain(
      'seq="6" role="user">question of r4</message>',
    );

    const ids = (await memory.summaries.list(thread)).map((summary) => summary.id);
    expect(logger.lines.map((line) => line.replace(/in \d+ms$/, "in {ms}ms"))).toEqual([
      `debug: Memory ${ids[0]} status updated to processing`,
      "debug: Summarization already in progress for timeline",
      `debug: Memory ${ids[0]} status updated to completed`,
      "info: Summarized messages 0-5 for timeline in {ms}ms",
      `debug: Memory ${ids[1]} status updated to processing`,
      "debug: Summarization already in progress for timeline",
      `debug: Memory ${ids[1]} status updated to completed`,
      "info: Summarized messages 0-9 for timeline in {ms}ms",
      `debug: Memory ${ids[2]} status updated to processing`,
      `debug: Memory ${ids[2]} status updated to completed`,
      "info: Summarized messages 0-13 for timeline in {ms}ms",
      `debug: Memory ${ids[3]} status updated to processing`,
      "debug: Summarization already in progress for timeline",
      `debug: Memory ${ids[3]} status updated to completed`,
      "info: Summarized messages 2-15 for timeline in {ms}ms",
      "info: Sliding window: dropping seq 0-1 for timeline",
      `debug: Memory ${ids[4]} status updated to processing`,
      `debug: Memory ${ids[4]} status updated to completed`,
      "info: Summarized messages 6-19 for timeline in {ms}ms",
      "info: Sliding window: dropping seq 0-5 for timeline",
    ]);
  });

  it("A turn without new messages is logged, and calls no model", async () => {
    const model = numbered(createGate({ open: true }));
    const logger = recordingLogger();
    const memory = summaryMemory(db, { model, logger });
    const thread = { scope, threadId: "nothing new" };
    const messages = [...round("1"), ...round("2"), ...round("3")];
    await memory.remember({ ...thread, messages });
    const again = await memory.remember({ ...thread, messages });
    expect(again).toEqual({
      recorded: 0,
      lastSeq: 5,
      summary: { started: false, reason: "nothing_new" },
    });
    expect(logger.lines.at(-1)).toBe("debug: No new messages to summarize for nothing new");
    expect(model.calls).toHaveLength(1);
  });
});
