import { describe, expect, it } from "vitest";
import { recordingLogger } from "../support/recording-logger.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  deadLettersOf,
  eventsOf,
  newAddress,
  openThread,
  say,
  taskOf,
  textsOf,
} from "../support/thread-facts.js";

const db = useTestDatabase();
const delayMs = 20 * 60_000;
const configured = (upkeep: Record<string, number> = {}) => ({
  memories: { extract: true },
  upkeep,
});
const ana = facts(
  candidate("The user's name is Ana.", "Ana", { category: "profile", key: "name", value: "Ana" }),
);

describe("unusable output", () => {
  it("Unusable extraction output becomes a dead letter with the output, and the cursor moves on", async () => {
    const model = taskModel({
      fact_extraction: (prompt) =>
        prompt.includes("poison")
          ? { structured: { facts: [{ text: "The user is \u0000 bad." }] } }
          : ana,
    });
    const logger = recordingLogger();
    const config = configured({ maxAttempts: 2, retryDelayMs: 0 });
    const { memory, thread } = openThread(db, { model, logger, config });
    await say(memory, thread, "poison here");
    expect(await deadLettersOf(db, thread)).toEqual([
      {
        kind: "facts",
        start_seq: 0,
        end_seq: 0,
        output: '{"facts":[{"text":"The user is \\u0000 bad."}]}',
        error: expect.stringContaining("twice gave an answer that is not a valid fact_extraction"),
      },
    ]);
    const expected = ["create error MODEL_OUTPUT_INVALID", "create error DEAD_LETTER"];
    expect(await eventsOf(db, thread, "facts")).toEqual(expected);
    // Two tries of two answers each.
    expect(model.calls).toHaveLength(4);
    expect(logger.lines.join("\n")).toContain("was given up at try 2");
    expect(logger.lines.join("\n")).not.toContain("is \u0000 bad");

    await say(memory, thread, "I am Ana.");
    expect(await textsOf(memory, thread)).toEqual(["The user's name is Ana."]);
    expect(await memory.stats({ scope: thread.scope })).toMatchObject({
      deadLetters: 1,
      written: 1,
    });
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    [
      "an id for the known fact",
      { updates: "0b6d0d5e-3c1d-4a53-9d4d-1f6e0c6f0b11" },
      ["created", "created"],
    ],
    ["no numbers", { importance: undefined, confidence: undefined }, ["created", "created"]],
    ["no message", { evidence: "I work in Porto" }, ["created", "created"]],
    ["no category", { category: null }, ["created"]],
    ["an unknown category", { category: "gossip" }, ["created"]],
    ["no text", { text: null }, ["created"]],
  ])("A candidate with %s does not affect the others", async (_, odd, outcomes) => {
    const porto = candidate("The user works in Porto.", "I work in Porto");
    const model = taskModel({
      fact_extraction: () =>
        facts({ ...porto, ...odd }, candidate("The user likes tea.", "I like tea")),
    });
    const { memory, thread } = openThread(db, { model, config: configured() });
    await say(memory, thread, "I work in Porto. I like tea.");
    expect(await textsOf(memory, thread)).toContain("The user likes tea.");
    expect(await textsOf(memory, thread)).toHaveLength(outcomes.length);
    expect(await eventsOf(db, thread, "facts")).toEqual([
      ...outcomes.map((outcome) => `classify ok ${outcome}`),
      ...(outcomes.length === 1 ? ["classify skipped unknown_category"] : []),
    ]);
    expect(model.calls).toHaveLength(1);
  });

  it("Unusable output about one message affects no other message", async () => {
    const thread = newAddress();
    const config = configured({ retryDelayMs: 3_600_000 });
    const failing = db.memory({
      model: taskModel({ fact_extraction: () => new Error("overloaded") }),
      config,
    });
    for (const says of ["I am Ana.", "poison here", "I work in Porto."])
      await say(failing, thread, says);
    expect(await taskOf(db, thread, "facts")).toMatchObject({ done_until: -1, attempts: 1 });

    await db.pool.query(`update "${db.schema}".work set retry_at = now()`);
    const model = taskModel({
      fact_extraction: (prompt) => {
        if (prompt.split("<messages>")[1]?.includes("poison")) return "no JSON";
        const number = (words: string) =>
          Number(/number="(\d+)"[^>]*>$/.exec(prompt.split(words)[0]!)?.[1]);
        return facts(
          ...(prompt.includes("I am Ana")
            ? [candidate("The user is Ana.", "I am Ana", { message: number("I am Ana") })]
            : []),
          ...(prompt.includes("I work in Porto")
            ? [
                candidate("The user works in Porto.", "I work in Porto", {
                  message: number("I work in Porto"),
                }),
              ]
            : []),
        );
      },
    });
    const memory = db.memory({ model, config: configured({ maxAttempts: 2, retryDelayMs: 0 }) });
    await memory.upkeep();
    expect(await textsOf(memory, thread)).toEqual(["The user is Ana.", "The user works in Porto."]);
    expect(await deadLettersOf(db, thread)).toMatchObject([
      { start_seq: 2, end_seq: 2, output: "no JSON" },
    ]);
    expect(await taskOf(db, thread, "facts")).toMatchObject({
      done_until: 4,
      attempts: 0,
      retry_at: null,
    });
  });
});

describe("failing models", () => {
  it("A request that its model refuses is retried with exponential backoff, then given up", async () => {
    let now = new Date("2030-01-01T00:00:00Z");
    // No outage, of which no work is given up.
    const refused = Object.assign(new Error("bad request"), { status: 400 });
    const { memory, thread } = openThread(db, {
      model: taskModel({ fact_extraction: () => refused }),
      config: configured({ retryDelayMs: delayMs, maxFailures: 3 }),
      clock: () => now,
    });
    const waits: number[] = [];
    await say(memory, thread, "I am Ana.");
    for (let tries = 1; tries < 3; tries++) {
      const { retry_at: retryAt, error } = (await taskOf(db, thread, "facts"))!;
      waits.push((Number(retryAt) - Number(now)) / delayMs);
      expect(error).toContain("The model call failed: Error");
      // It is not due yet, and further messages do not change that.
      expect(await memory.upkeep()).toBe(0);
      await say(memory, thread, "I am still Ana.");
      expect((await taskOf(db, thread, "facts"))!.attempts).toBe(tries);
      now = retryAt!;
      expect(await memory.upkeep()).toBe(1);
    }
    expect(waits).toEqual([1, 2]);
    // The third try looked at one message only.
    expect(await deadLettersOf(db, thread)).toMatchObject([
      { start_seq: 0, end_seq: 0, output: expect.any(String) },
    ]);
  });
});
