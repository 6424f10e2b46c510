import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { runLifecycle } from "../support/run-lifecycle.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestOptions } from "../support/test-memory.js";
import { type Address, eventsOf, newAddress, say, textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const upkeep = { maxAttempts: 1, retryDelayMs: 0 };
const config = { memories: { extract: true }, lifecycle: { purgeAfterMs: 0 }, upkeep };

/**
 * What each message says, by its words: as the model puts it, at its first and at its second
 * reading.
 */
type Readings = Readonly<
  Record<string, readonly [first: Record<string, unknown>, again?: Record<string, unknown>]>
>;

/** A memory whose model reads `readings`, and gives up the first message while `broken`. */
function reading(readings: Readings, options: TestOptions = {}) {
  const state = { broken: true, again: false };
  const model = taskModel({
    fact_extraction: (prompt) => {
      if (state.broken) return { structured: {} };
      const said = [...prompt.matchAll(/<message number="(\d+)"[^>]*>([^<]*)</g)];
      const found = said.flatMap(([, number, text = ""]) =>
        Object.entries(readings)
          .filter(([quote]) => text.includes(quote) && !text.startsWith("Please forget"))
          .map(([quote, [first, again = first]]) => {
            const { text: fact = "", ...fields } = state.again ? again : first;
            return candidate(`${fact}`, quote, { ...fields, message: Number(number) });
          }),
      );
      return facts(...found);
    },
  });
  return { state, memory: db.memory({ model, config, ...options }) };
}

async function remove(memory: Memory, { scope }: Address, text: string): Promise<string> {
  const found = (await memory.memories.list({ scope })).find((each) => each.text === text);
  await memory.memories.remove({ scope, id: found?.id ?? "" });
  return found?.id ?? "";
}

async function retry(memory: Memory, { threadId }: Address): Promise<void> {
  const letter = (await memory.jobs.list({ kind: "facts", state: "failed" })).find(
    (job) => job.threadId === threadId,
  );
  expect(await memory.jobs.retry({ id: letter?.id ?? "" })).toMatchObject({ retried: 1 });
}

const bees = { text: "The user keeps bees." };
const porto = { text: "The user lives in Porto." };
const city = { category: "profile", key: "city", value: "Porto" };

const beesThenPorto: Readings = { "I keep bees": [bees], "I live in Porto": [porto] };
const said = ["I keep bees.", "I live in Porto."] as const;

describe("removed facts", () => {
  /** A thread whose first message was given up, and whose second said `second` and was learned. */
  async function learned(readings: Readings, first: string, second: string, options?: TestOptions) {
    const { memory, state } = reading(readings, options);
    const thread = newAddress();
    await say(memory, thread, first);
    state.broken = false;
    await say(memory, thread, second);
    state.again = true;
    return { memory, thread };
  }

  it.each([
    ["in the same words", porto, porto],
    ["in other words", porto, { text: "Porto is where the user has a home." }],
    [
      "of a slot, in other words",
      { ...city, ...porto },
      { ...city, text: "The user's city is Porto." },
    ],
  ])("A removed fact is not learned again from its own message, %s", async (_, first, again) => {
    const { memory, thread } = await learned(
      { "I keep bees": [bees], "I live in Porto": [first, again] },
      "I keep bees.",
      "I live in Porto.",
    );
    await remove(memory, thread, porto.text);
    await retry(memory, thread);
    expect(await textsOf(memory, thread)).toEqual(["The user keeps bees."]);
    expect(await eventsOf(db, thread, "facts")).toContain("classify skipped removed");
  });

  it.each([
    ["in the same words", porto, porto],
    [
      "of a slot, in other words",
      { ...city, ...porto },
      { ...city, text: "The user's city is Porto." },
    ],
  ])("A removed fact is not learned from another earlier message, %s", async (_, first, again) => {
    const { memory, thread } = await learned(
      { "I live in Porto": [first, again] },
      "I live in Porto.",
      "As I said, I live in Porto.",
    );
    await remove(memory, thread, porto.text);
    await retry(memory, thread);
    expect(await textsOf(memory, thread)).toEqual([]);
  });

  it("A removed fact is not learned again after it was purged", async () => {
    const { memory, thread } = await learned(beesThenPorto, ...said);
    const id = await remove(memory, thread, porto.text);
    await runLifecycle(memory, thread);
    expect(await memory.memories.list({ scope: thread.scope, states: ["soft_deleted"] })).toEqual(
      [],
    );
    expect(id).not.toBe("");
    await retry(memory, thread);
    expect(await textsOf(memory, thread)).toEqual(["The user keeps bees."]);
  });

  it("A removed fact is learned when it is said again", async () => {
    const { memory, thread } = await learned(
      { "I live in Porto": [porto] },
      "Hello there, I am new.",
      "I live in Porto.",
    );
    await remove(memory, thread, porto.text);
    await say(memory, thread, "As I said, I live in Porto.");
    expect(await textsOf(memory, thread)).toEqual([porto.text]);
  });

  it("A removed fact that was restored stays unchanged", async () => {
    const { memory, thread } = await learned(beesThenPorto, ...said);
    const id = await remove(memory, thread, porto.text);
    await memory.memories.restore({ scope: thread.scope, consent: "given", id });
    await retry(memory, thread);
    expect(await textsOf(memory, thread)).toEqual([porto.text, "The user keeps bees."]);
  });
});
