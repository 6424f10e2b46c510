import { AIMessage, HumanMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { memoryPreface } from "../../src/messages/recalled-mark.js";
import { memoryBlock } from "../../src/prompt/memory-block.js";
import { shownBy } from "../../src/prompt/shown-by.js";
import { consolidateNow } from "../support/consolidate-now.js";
import { judgingModel } from "../support/pair-judge.js";
import { runLifecycle } from "../support/run-lifecycle.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { type Address, openThread } from "../support/thread-facts.js";

const db = useTestDatabase();

/** The delta header that a thread is shown now, as lines. */
async function headerOf(memory: Memory, thread: Address): Promise<string[]> {
  const block = memoryBlock(await memory.recall(thread)) ?? "";
  const [preface, first = ""] = block.replace(/^<memory>\n|\n<\/memory>$/g, "").split("\n\n");
  const [title, day, ...others] = (preface ?? "").split("\n");
  const rest = others.filter((line) => !line.startsWith("Before today, this conversation"));
  if (block !== "") expect([title, ...rest]).toEqual(["# Long-term Memory", memoryPreface]);
  if (block !== "") expect(day).toMatch(/^Today is \w+, \d+ \w+ \d{4}\.$/);
  return first.startsWith("Memory updates") ? first.split("\n") : [];
}

/** Records a turn; the changes that it was shown, as lines. */
async function round(memory: Memory, thread: Address): Promise<string[]> {
  const lines = await headerOf(memory, thread);
  const shown = shownBy(await memory.recall(thread));
  await memory.remember({
    ...thread,
    messages: [new HumanMessage("Hi."), new AIMessage("Hello.")],
    shown,
  });
  return lines;
}

describe("revisions", () => {
  it("Changes are listed in pages from any revision on, within the scope", async () => {
    const { memory, scope } = openThread(db);
    expect(await memory.changes.list({ scope, since: 0 })).toEqual({
      revision: 0,
      changes: [],
      nextCursor: null,
    });
    const drafts = ["tea", "rye", "figs"].map((thing) => ({ text: `The user likes ${thing}.` }));
    const [first] = await memory.memories.add({ scope, memories: drafts });
    await memory.memories.remove({ scope, id: first!.id! });
    const { changes: all } = await memory.changes.list({ scope, since: 0 });
    expect(all.filter(({ memoryId }) => memoryId === first!.id).map(({ line }) => line)).toEqual(
      Array(2).fill("[Knowledge] (no longer kept)"),
    );
    const page = await memory.changes.list({ scope, limit: 2, since: 1 });
    expect(page).toMatchObject({ revision: 4, changes: [{ rev: 2 }, { rev: 3 }], nextCursor: 3 });
    expect(
      (await memory.changes.list({ scope, since: page.changes.at(-1)!.rev })).changes[0],
    ).toEqual({
      rev: 4,
      event: "soft_deleted",
      memoryId: first!.id,
      category: "knowledge",
      line: "[Knowledge] (no longer kept)",
      at: expect.any(Date),
    });
    expect(await memory.changes.list({ scope, limit: 2, since: 2 })).toMatchObject({
      nextCursor: null,
    });
    expect(
      (await memory.changes.list({ scope: { ...scope, tenantId: "other" }, since: 0 })).revision,
    ).toBe(0);
  });
});

it("Merging two reordered notes reports one change, and repeating their words reports none", async () => {
  const { memory, thread } = openThread(db, { model: judgingModel(() => "same") });
  await round(memory, thread);
  await memory.memories.add({
    ...thread,
    memories: { text: "The user has lactose intolerance.", importance: 2 },
  });
  await memory.memories.add({
    ...thread,
    memories: { text: "Lactose intolerance the user has.", importance: 2 },
  });
  await round(memory, thread);
  await consolidateNow(memory, thread);
  expect((await round(memory, thread)).slice(1)).toEqual([
    '- ↔merged: Combined 2 notes about "The user has lactose intolerance"',
  ]);
  await memory.memories.add({
    ...thread,
    memories: { text: "the user has  lactose intolerance", importance: 2 },
  });
  expect(await round(memory, thread)).toEqual([]);
});

describe("shown changes", () => {
  it("Each change is shown once in each thread of its owner, from every kind of writer", async () => {
    let now = new Date("2032-01-01T00:00:00Z").getTime();
    const model = taskModel({
      fact_extraction: () =>
        facts(candidate("The user plays chess.", "play chess", { importance: 1, message: 2 })),
    });
    const options = { clock: () => new Date(now) };
    const worker = db.memory({ ...options, model, config: { memories: { extract: true } } });
    const { memory, thread: one, scope } = openThread(db, options);
    const two = { ...one, threadId: `${one.threadId}-2` };
    for (const thread of [one, two]) await round(memory, thread);
    const long =
      "The user plays chess at noon in the old garden of the city museum near the river with Bob.";
    const told = async (...lines: string[]) => {
      for (const thread of [one, two]) {
        expect((await round(memory, thread)).slice(1)).toEqual(lines);
        expect(await round(memory, thread)).toEqual([]);
      }
    };

    // By a worker, from what was said in a thread.
    await worker.remember({ ...one, messages: [new HumanMessage("I play chess.")] });
    await told("- +created: [Knowledge] The user plays chess. (imp=1)");
    const [{ id } = { id: "" }] = await memory.memories.list({ scope });
    await memory.memories.update({ ...one, id, text: long });
    await told(`- ↑updated: [Knowledge] ${long}`);
    await memory.memories.remove({ ...one, id });
    await told("- ⌛soft_deleted: [Knowledge] (no longer kept)");
    await memory.memories.restore({ ...one, id });
    await told(`- ↺restored: [Knowledge] ${long}`);
    now += 61 * 86_400_000;
    await runLifecycle(memory, { scope });
    await told("- ⌛soft_deleted: [Knowledge] (no longer kept)");
    now += 31 * 86_400_000;
    await runLifecycle(memory, { scope });
    // Purged: to both it is gone already. A thread that was not told is told that it is deleted.
    await told();
  });

  it("A change is shown again after a failed turn, and not in a new thread", async () => {
    const { memory, thread } = openThread(db);
    await round(memory, thread);
    await memory.memories.add({ ...thread, memories: { text: "The user likes tea." } });
    const header = [
      "Memory updates since rev 0:",
      "- +created: [Knowledge] The user likes tea. (imp=3)",
    ];
    expect(await headerOf(memory, thread)).toEqual(header);
    // The turn failed: nothing was recorded.
    expect(await headerOf(memory, thread)).toEqual(header);
    // A change after the recall of a turn is news to the next.
    const { changes } = await memory.recall(thread);
    await memory.memories.add({ ...thread, memories: { text: "The user likes rye." } });
    const messages = [new HumanMessage("Hi.")];
    await memory.remember({
      ...thread,
      messages,
      shown: { revision: changes.revision, memoryIds: [] },
    });
    const expected = [
      "Memory updates since rev 1:",
      "- +created: [Knowledge] The user likes rye. (imp=3)",
    ];
    expect(await headerOf(memory, thread)).toEqual(expected);
    expect(await headerOf(memory, { ...thread, threadId: `${thread.threadId}-new` })).toEqual([]);
  });

  it("A change within an app is shown in that app only", async () => {
    const { memory, scope, threadId } = openThread(db, {
      config: { categories: { custom: [{ name: "orders", level: "app" }] } },
    });
    const inApp = (appId: string) => ({
      scope: { ...scope, appId },
      threadId: `${threadId}-${appId}`,
    });
    const [shop, bank] = [inApp("shop"), inApp("bank")];
    for (const thread of [shop, bank]) await round(memory, thread);
    await memory.memories.add({
      ...shop,
      memories: { text: "The user ordered a lamp.", category: "orders" },
    });
    expect(await headerOf(memory, bank)).toEqual([]);
    expect(await headerOf(memory, shop)).toHaveLength(2);
    expect((await memory.changes.list({ scope: bank.scope, since: 0 })).changes).toEqual([]);
    expect((await memory.changes.list({ scope, since: 0 })).changes).toHaveLength(1);
  });

  it("At most three changes are shown, most important first, with the total count", async () =>
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 14 }),
        async (importances) => {
          const { memory, thread } = openThread(db);
          await round(memory, thread);
          await memory.memories.add({
            ...thread,
            memories: importances.map((importance, index) => ({
              text: `The user has thing ${index}.`,
              importance,
            })),
          });
          const [title, ...bullets] = await headerOf(memory, thread);
          const more = importances.length > 3 ? ` (${importances.length} changes)` : "";
          expect(title).toBe(`Memory updates since rev 0${more}:`);
          expect(bullets.map((bullet) => Number(bullet.match(/imp=(\d)/)?.[1]))).toEqual(
            importances.toSorted((first, second) => second - first).slice(0, 3),
          );
        },
      ),
      { numRuns: 15 },
    ));
});
