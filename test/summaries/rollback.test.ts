import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createGate, ScriptedChatModel } from "../../src/testing/index.js";
import { round } from "../support/spoken.js";
import { summaryMemory } from "../support/summary-memory.js";
import { summaryPrompt } from "../support/summary-prompt.js";
import { summaryTable } from "../support/summary-table.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
let next = 0;

/** A thread of ten rounds whose every summary completed: (0,5) (0,7) (0,9) (0,11) (0,13) (2,15) (4,17) (6,19). */
async function summarised() {
  const thread = { scope, threadId: `rolled back ${next++}` };
  const model = new ScriptedChatModel({
    replies: (_, index) => ({ structured: { reasoning: "…", summary: `summary ${index + 1}` } }),
  });
  const memory = summaryMemory(db, { model });
  for (let number = 1; number <= 10; number++) {
    await memory.remember({ ...thread, messages: round(`r${number}`) });
  }
  const ids = (await memory.summaries.list(thread)).map((summary) => summary.id);
  return { thread, memory, model, id: (version: number) => ids[version - 1] ?? -1 };
}

describe("a rollback", () => {
  it("brings an earlier version back into use, with the larger gap", async () => {
    const { thread, memory, id } = await summarised();
    await memory.summaries.rollback({ ...thread, summaryId: id(3) });
    const { summary, gap } = await memory.recall(thread);
    expect(summary).toMatchObject({
      id: id(3),
      text: "summary 3",
      startSeq: 0,
      endSeq: 9,
      endMessageId: "r5-a",
    });
    expect(gap.map((message) => message.id)).toEqual(
      ["6", "7", "8", "9", "10"].flatMap((r) => [`r${r}-q`, `r${r}-a`]),
    );
    const list = await memory.summaries.list(thread);
    expect(list.map((version) => version.rolledBackAt !== null)).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
      true,
      true,
    ]);
    expect((await memory.summaries.chain(thread)).map((version) => version.id)).toEqual([
      id(3),
      id(2),
      id(1),
    ]);
  });

  it("is what the next summary is made from, with everything since", async () => {
    const { thread, memory, model, id } = await summarised();
    await memory.summaries.rollback({ ...thread, summaryId: id(3) });
    await memory.remember({ ...thread, messages: round("r11") });
    expect((await summaryTable(memory, thread)).at(-1)).toEqual([9, 8, 21, 3, "completed"]);
    const { previous, added, dropped, dropBefore } = summaryPrompt(model.calls.at(-1));
    expect(previous).toEqual({ covers: "0-9", text: "summary 3" });
    expect(added).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21]);
    expect([dropped, dropBefore]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7], 8]);
  });

  it("can be taken back, by going to a later version", async () => {
    const { thread, memory, id } = await summarised();
    await memory.summaries.rollback({ ...thread, summaryId: id(2) });
    await memory.summaries.rollback({ ...thread, summaryId: id(7) });
    expect((await memory.recall(thread)).summary?.id).toBe(id(7));
    expect((await memory.summaries.list(thread))[6]?.rolledBackAt).toBeNull();
    await memory.summaries.rollback({ ...thread, summaryId: id(7) });
    expect((await memory.recall(thread)).summary?.id).toBe(id(7));
  });

  it("leaves no message between summary and present out, whichever versions it goes through", async () => {
    const { thread, memory, id } = await summarised();
    const ends = [5, 7, 9, 11, 13, 15, 17, 19];
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), async (version) => {
        await memory.summaries.rollback({ ...thread, summaryId: id(version) });
        const { summary, gap, lastSeq } = await memory.recall(thread);
        expect(summary?.endSeq).toBe(ends[version - 1]);
        expect(gap).toHaveLength(lastSeq - (summary?.endSeq ?? -1));
      }),
      { numRuns: 25 },
    );
  });

  it("ends a summary in the making, whose result is refused", async () => {
    const gate = createGate({ open: true });
    const model = new ScriptedChatModel({
      gate,
      replies: (_, index) => ({ structured: { reasoning: "…", summary: `summary ${index + 1}` } }),
    });
    const memory = summaryMemory(db, { model, jobs: "background" });
    const thread = { scope, threadId: "rolled back while processing" };
    await memory.remember({ ...thread, messages: ["1", "2", "3"].flatMap(round) });
    await memory.idle();
    gate.close();
    await memory.remember({ ...thread, messages: round("4") });
    await expect.poll(() => gate.waiting).toBe(1);
    const [first] = await memory.summaries.list(thread);
    await memory.summaries.rollback({ ...thread, summaryId: first?.id ?? -1 });
    gate.open();
    await memory.idle();
    expect(await summaryTable(memory, thread)).toEqual([
      [1, 0, 5, null, "completed"],
      [2, 0, 7, 1, "failed"],
    ]);
    expect((await memory.summaries.list(thread))[1]).toMatchObject({
      error: "rolled back",
      text: null,
      retryAt: null,
    });
    expect((await memory.recall(thread)).summary?.text).toBe("summary 1");
    expect(await memory.upkeep()).toBe(0);
  });

  it("refuses what is no completed summary of the thread, and changes nothing", async () => {
    const { thread, memory, id } = await summarised();
    const other = await summarised();
    const notFound = expect.objectContaining({ code: "NOT_FOUND" });
    for (const summaryId of [other.id(1), 0, -1, 2 ** 40]) {
      await expect(memory.summaries.rollback({ ...thread, summaryId })).rejects.toThrow(notFound);
    }
    const foreign = { scope: { userId: "ben" }, threadId: thread.threadId };
    await expect(memory.summaries.rollback({ ...foreign, summaryId: id(1) })).rejects.toThrow(notFound);
    expect((await memory.recall(thread)).summary?.id).toBe(id(8));
  });
});
