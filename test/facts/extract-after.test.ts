import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { type TaskReplies, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestConfig, TestOptions } from "../support/test-memory.js";
import { type Address, newAddress, say, taskOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const minute = 60_000;

/**
 * A memory that extracts facts and does nothing else; a clock that stands still until it is moved.
 */
function extracting(
  settings: TestConfig["memories"] = {},
  options: Omit<TestOptions, "config"> & {
    readonly replies?: TaskReplies;
    readonly start?: number;
  } = {},
) {
  const { replies = {}, start = Date.parse("2026-03-01T12:00:00Z"), ...others } = options;
  const model = taskModel(replies);
  let time = start;
  const config = {
    summaries: { afterSeq: 1_000 },
    memories: { extract: true, episodes: false, ...settings },
  };
  const memory = db.memory({ ...others, model, clock: () => new Date(time), config });
  const pass = (ms: number) => {
    time += ms;
  };
  return { memory, calls: () => model.prompts("fact_extraction"), pass, now: () => time };
}

const said = (prompt: string) =>
  [...prompt.matchAll(/<message number="\d+"[^>]*>([^<]*)</g)].map(([, text]) => text);

describe("memories.extractAfterMessages", () => {
  it("Extraction waits for the configured number of user messages and makes one call for them", async () => {
    const { memory, calls } = extracting({ extractAfterMessages: 4 }, { jobs: "background" });
    const thread = newAddress();
    const texts = Array.from({ length: 8 }, (_, index) => `I like fruit number ${index + 1}.`);
    for (const [half, doneUntil] of [
      [texts.slice(0, 4), 6],
      [texts.slice(4, 8), 14],
    ] as const) {
      for (const text of half) await say(memory, thread, text);
      const done = async () => (await taskOf(db, thread, "facts"))?.done_until;
      await expect.poll(done).toBe(doneUntil);
    }
    await memory.idle();
    expect(calls().map(said)).toEqual([texts.slice(0, 4), texts.slice(4, 8)]);
  });

  it.each<[string, (memory: Memory, thread: Address) => Promise<unknown>]>([
    ["idle", (memory) => memory.idle()],
    ["upkeep of another process", () => extracting({ extractAfterMessages: 4 }).memory.upkeep()],
    ["the end of the thread", (memory, thread) => memory.threads.end(thread)],
    [
      "the user's next thread",
      (memory, { scope }) => say(memory, { ...newAddress(), scope }, "Hello!"),
    ],
  ])("Waiting messages are extracted on %s", async (_, ends) => {
    const { memory } = extracting(
      { extractAfterMessages: 4, extractIdleMs: 5 * minute },
      { jobs: "background" },
    );
    const thread = newAddress();
    for (const text of ["I moved to Porto.", "I have a dog."]) await say(memory, thread, text);
    const task = () => taskOf(db, thread, "facts");
    expect(await task()).toMatchObject({ done_until: -1 });
    await ends(memory, thread);
    await expect.poll(async () => (await task())?.done_until).toBe(2);
  });

  it("Waiting messages are extracted by a timer of their process", async () => {
    const model = taskModel({});
    const memories = {
      extract: true,
      episodes: false,
      extractAfterMessages: 9,
      extractIdleMs: 1_000,
    };
    const memory = db.memory({
      model,
      jobs: "background",
      config: { memories, jobs: { sweepIntervalMs: 600_000 } },
    });
    // The first turn looks for what others left behind.
    await memory.upkeep();
    await memory.idle();
    await say(memory, newAddress(), "I moved to Timbuktu.");
    const calls = () =>
      model.prompts("fact_extraction").filter((prompt) => prompt.includes("Timbuktu"));
    expect(calls()).toEqual([]);
    await expect.poll(() => calls().length).toBe(1);
    await memory.close();
  });
});

describe("messages without substance", () => {
  it("Messages without substance cost no call and are sent with the next message of substance", async () => {
    const { memory, calls } = extracting();
    const thread = newAddress();
    for (const text of ["ok", "Thanks!", "👍", "谢谢"]) await say(memory, thread, text);
    await memory.upkeep();
    expect(calls()).toEqual([]);
    await say(memory, thread, "I moved to Porto.");
    expect(calls().map(said)).toEqual([["ok", "Thanks!", "谢谢", "I moved to Porto."]]);
    await say(memory, thread, "thanks");
    expect(calls()).toHaveLength(1);
  });

  it("Very many messages without substance do not delay the message after them", async () => {
    const { memory, calls } = extracting();
    const thread = newAddress();
    for (let count = 0; count < 25; count++) await say(memory, thread, "ok");
    await say(memory, thread, "I moved to Porto.");
    expect(calls()).toHaveLength(1);
    expect(calls()[0]).toContain("I moved to Porto.");
  });

  it("A one-word answer has substance only if it answers the assistant's question", async () => {
    const { memory, calls } = extracting();
    const thread = newAddress();
    await say(memory, thread, "hello", "Sweet or salty popcorn?");
    await say(memory, thread, "Sweet!", "Noted.");
    expect(calls()).toHaveLength(1);
    expect(calls()[0]).toContain("Sweet or salty popcorn?");
    await say(memory, thread, "Great");
    await memory.upkeep();
    expect(calls()).toHaveLength(1);
  });
});
