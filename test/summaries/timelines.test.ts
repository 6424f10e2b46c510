import { expect, it } from "vitest";
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

/** Ten turns. The summary in progress is complete before some of them, and not before the others. */
async function tenTurns(memory: Memory, gate: Gate, threadId: string, caughtUpBefore: number[]) {
  const thread = { scope, threadId };
  const timeline: unknown[] = [];
  for (let number = 1; number <= 10; number++) {
    if (caughtUpBefore.includes(number)) await complete(memory, gate);
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
  return timeline;
}

it("A summary that takes two turns is followed by one of both", async () => {
  const gate = createGate();
  const memory = summaryMemory(db, { model: numbered(gate), jobs: "background" });
  const timeline = await tenTurns(memory, gate, "slow summaries", [5, 7, 8, 10]);
  expect(timeline).toEqual([
    [1, null, "", null, "too_early"],
    [2, null, "r1-q r1-a", null, "too_early"],
    [3, null, "r1-q r1-a r2-q r2-a", null, "0-5"],
    [4, null, "r1-q r1-a r2-q r2-a r3-q r3-a", "0-5", "already_running"],
    [5, "summary 1: 0-5, r3-a", "r4-q r4-a", null, "0-9"],
    [6, "summary 1: 0-5, r3-a", "r4-q r4-a r5-q r5-a", "0-9", "already_running"],
    [7, "summary 2: 0-9, r5-a", "r6-q r6-a", null, "0-13"],
    [8, "summary 3: 0-13, r7-a", "", null, "2-15"],
    [9, "summary 3: 0-13, r7-a", "r8-q r8-a", "2-15", "already_running"],
    [10, "summary 4: 2-15, r8-a", "r9-q r9-a", null, "6-19"],
  ]);
  await complete(memory, gate);
  expect(await summaryTable(memory, { scope, threadId: "slow summaries" })).toEqual([
    [1, 0, 5, null, "completed"],
    [2, 0, 9, 1, "completed"],
    [3, 0, 13, 2, "completed"],
    [4, 2, 15, 3, "completed"],
    [5, 6, 19, 4, "completed"],
  ]);
});

it("Each of ten turns sees the latest complete summary and its gap, and starts the next if none runs", async () => {
  const gate = createGate();
  const model = numbered(gate);
  const logger = recordingLogger();
  const memory = summaryMemory(db, { model, jobs: "background", logger });
  const thread = { scope, threadId: "ten rounds" };
  const timeline = await tenTurns(memory, gate, thread.threadId, [4, 6, 8, 10]);
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

  const inputs = model.calls.map((call) => {
    const { previous, added, dropped, dropBefore } = summaryPrompt(call);
    return [previous && `${previous.covers} ${previous.text}`, added, dropped, dropBefore];
  });
  expect(inputs).toEqual([
    [null, seqsOf(0, 5), [], null],
    ["0-5 summary 1", [6, 7], [], null],
    ["0-7 summary 2", seqsOf(8, 11), [], null],
    ["0-11 summary 3", seqsOf(12, 15), [0, 1], 2],
    ["2-15 summary 4", seqsOf(16, 19), seqsOf(2, 5), 6],
  ]);
  expect(summaryPrompt(model.calls[1]).text).toContain(
    'seq="6" role="user">question of r4</message>',
  );

  // A turn without new messages.
  await memory.remember({ ...thread, messages: round("r10") });
  expect(model.calls).toHaveLength(5);
  const ids = (await memory.summaries.list(thread)).map(({ id }) => id);
  expect(logger.lines.slice(-7).map((line) => line.replace(/in \d+ms$/, "in {ms}ms"))).toEqual([
    "info: Summarized messages 2-15 for ten rounds in {ms}ms",
    "info: Sliding window: dropping seq 0-1 for ten rounds",
    `debug: Memory ${ids[4]} status updated to processing`,
    `debug: Memory ${ids[4]} status updated to completed`,
    "info: Summarized messages 6-19 for ten rounds in {ms}ms",
    "info: Sliding window: dropping seq 0-5 for ten rounds",
    "debug: No new messages to summarize for ten rounds",
  ]);
  expect(logger.lines).toContain("debug: Summarization already in progress for ten rounds");
});
