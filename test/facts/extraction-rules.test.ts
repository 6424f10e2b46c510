import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { recordingLogger } from "../support/recording-logger.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  type Address,
  eventsOf,
  newAddress,
  openThread,
  say,
  taskOf,
  textsOf,
} from "../support/thread-facts.js";

const db = useTestDatabase();
const configured = (memories: Record<string, number> = {}) => ({
  memories: { extract: true, ...memories },
});

/** The answer of a model that knows, for each thing said, the facts in it. */
const knowing = (answers: Record<string, ReturnType<typeof candidate>[]>) => (prompt: string) =>
  facts(
    ...Object.entries(answers).flatMap(([words, candidates]) => {
      const number = /number="(\d+)"[^>]*>[^<]*$/.exec(prompt.split(words)[0]!)?.[1];
      if (!prompt.includes(words) || number === undefined) return [];
      return candidates.map((fact) => ({ ...fact, message: Number(number) }));
    }),
  );
/** A memory whose model knows `answers`. */
const learning = (answers: Parameters<typeof knowing>[0], memories: Record<string, number> = {}) =>
  db.memory({
    model: taskModel({ fact_extraction: knowing(answers) }),
    config: configured(memories),
  });
const named = (value: string, quote: string, confidence: number) =>
  candidate(`The user's name is ${value}.`, quote, {
    category: "identity",
    key: "Name",
    value,
    confidence,
  });

/** What a user's slot holds, and what it held before, latest first. */
async function nameOf(memory: Memory, { scope }: Address) {
  const all = await memory.memories.list({ scope, states: ["active", "superseded"] });
  return all.map(({ value, state }) => `${value} ${state}`);
}

describe("conflicts over a slot", () => {
  const example = {
    "My name is Alex": [named("Alex", "My name is Alex", 1)],
    "Call me Al": [named("Al", "Call me Al", 0.6)],
    "My full name is Alexander": [named("Alexander", "My full name is Alexander", 0.95)],
  };
  const turns: Record<number, string> = {
    5: "My name is Alex.",
    50: "Call me Al.",
    80: "My full name is Alexander.",
  };
  /** The turns that say nothing at once, each of the others by itself. */
  const playTurns = async (memory: Memory, thread: Address, upTo: number, from = 1) => {
    let idle: BaseMessage[] = [];
    for (let turn = from; turn <= upTo; turn++) {
      const says = turns[turn];
      if (says === undefined) {
        idle.push(new HumanMessage(`Question ${turn}?`), new AIMessage("I see."));
        continue;
      }
      await memory.remember({ ...thread, messages: idle });
      await say(memory, thread, says);
      idle = [];
    }
  };

  it("A slot keeps the surest value: Alex from turn 5, not Al at 50, Alexander from 80", async () => {
    const memory = learning(example);
    const thread = newAddress();
    await playTurns(memory, thread, 5);
    expect(await nameOf(memory, thread)).toEqual(["Alex active"]);
    await playTurns(memory, thread, 50, 6);
    expect(await nameOf(memory, thread)).toEqual(["Alex active"]);
    await playTurns(memory, thread, 80, 51);
    expect(await nameOf(memory, thread)).toEqual(["Alexander active", "Alex superseded"]);

    const [alexander, alex] = await memory.memories.list({
      scope: thread.scope,
      states: ["active", "superseded"],
    });
    expect(alex).toMatchObject({ supersededBy: alexander?.id, validTo: alexander?.validFrom });
    const trail = await memory.memories.history({ ...thread, id: alex!.id });
    expect(trail.map(({ event, new: next }) => [event, next])).toEqual([
      ["UPDATE", { supersededBy: alexander?.id, reason: "confidence" }],
      [
        "UPDATE",
        {
          refused: "The user's name is Al.",
          confidence: 0.6,
          origin: "user",
          reason: "confidence",
        },
      ],
      ["CONSENT", expect.objectContaining({ via: "said", value: "Alex" })],
      ["ADD", expect.objectContaining({ value: "Alex" })],
    ]);
  });

  it("A slot ends with the same value if the worker was down during all turns", async () => {
    const thread = newAddress();
    const config = { ...configured(), upkeep: { retryDelayMs: 3_600_000 } };
    await playTurns(
      db.memory({ model: taskModel({ fact_extraction: () => new Error("down") }), config }),
      thread,
      80,
    );
    await db.pool.query(
      `update "${db.schema}".work set retry_at = now(), attempts = 0 where kind = 'facts'`,
    );
    const model = taskModel({ fact_extraction: knowing(example) });
    const memory = db.memory({ model, config });
    await memory.upkeep();
    expect(await nameOf(memory, thread)).toEqual(["Alexander active", "Alex superseded"]);
    expect(model.prompts("fact_extraction")).toHaveLength(8);
    expect(model.prompts("fact_extraction")[7]).toContain(
      '<memory number="1" category="profile" key="name">Alex</memory>',
    );
  });

  it("A correction wins a slot regardless of its confidence", async () => {
    const correction = { ...named("Bo", "Bo", 0.5), relation: "updates" as const, target: 1 };
    const memory = learning({ ...example, "No, it is Bo": [correction] });
    const thread = newAddress();
    await say(memory, thread, "My name is Alex.");
    await say(memory, thread, "No, it is Bo.");
    expect(await nameOf(memory, thread)).toEqual(["Bo active", "Alex superseded"]);
  });

  it("An earlier statement that arrives late stays in the past of its slot", async () => {
    const memory = learning(example);
    const thread = newAddress();
    await say(memory, thread, "My full name is Alexander.");
    const messages = [new HumanMessage("My name is Alex.")];
    await memory.remember({ ...thread, messages, saidAt: new Date("2020-01-01T00:00:00Z") });
    expect(await nameOf(memory, thread)).toEqual(["Alex superseded", "Alexander active"]);
  });

  it.each([
    ["no key", { category: "profile", key: null, value: null }],
    ["a key of its own", { category: "profile", key: "side_job", value: "firefighter" }],
    ["a key with a word in common", { category: "profile", key: "job_boss", value: "firefighter" }],
    ["another category", { category: "knowledge", key: "job", value: "firefighter" }],
    [
      "the same key that adds to it",
      { category: "identity", key: "job", value: "firefighter", relation: "adds_to" as const },
    ],
  ])("A fact with %s leaves the slot that the model targets unchanged", async (_, fields) => {
    const job = candidate("The user works as an engineer.", "engineer", {
      category: "identity",
      key: "Occupation",
      value: "engineer",
    });
    const also = candidate("The user is also a volunteer firefighter.", "volunteer firefighter", {
      relation: "updates",
      target: 1,
      ...fields,
    });
    const memory = learning({ "as an engineer": [job], "a volunteer": [also] });
    const thread = newAddress();
    await say(memory, thread, "I work as an engineer.");
    await say(memory, thread, "I am also a volunteer firefighter.");
    const expected = [
      "The user works as an engineer.",
      "The user is also a volunteer firefighter.",
    ];
    expect(await textsOf(memory, thread)).toEqual(expected);
  });
});

describe("caps on writes", () => {
  it.each([
    ["ledger", 5],
    ["every-round", 3],
  ] as const)(
    "Of one message the most important facts are kept, and the log counts the others (%s)",
    async (preset, most) => {
      const things = ["hike", "bake", "paint", "sing", "row", "ski"];
      const model = taskModel({
        fact_extraction: () =>
          facts(
            ...things.map((thing, place) =>
              candidate(`The user likes to ${thing}.`, thing, { confidence: 0.5 + place / 20 }),
            ),
          ),
      });
      const logger = recordingLogger();
      const memory = db.memory({ model, logger, config: { preset, ...configured() } });
      const thread = newAddress();
      await say(memory, thread, "I like to hike, bake, paint, sing, row and ski.");
      await memory.idle();
      const kept = things.slice(-most).map((thing) => `The user likes to ${thing}.`);
      expect((await textsOf(memory, thread)).toSorted()).toEqual(kept.toSorted());
      expect(logger.lines).toContainEqual(
        expect.stringMatching(`^warn: ${things.length - most} facts of .* teaches ${most}, `),
      );
    },
  );

  it("The cap per day defers extraction without a model call", async () => {
    let now = new Date("2030-05-01T10:00:00Z");
    const model = taskModel({
      fact_extraction: (prompt) =>
        facts(
          ...[...prompt.matchAll(/number="(\d+)"[^>]*>I like (\w+)/g)].map(([, message, thing]) =>
            candidate(`The user likes ${thing}.`, `I like ${thing}`, { message: Number(message) }),
          ),
        ),
    });
    const { memory, thread } = openThread(db, {
      model,
      config: configured({ writesPerDay: 2 }),
      clock: () => now,
    });
    const other = { ...thread, threadId: `${thread.threadId}-2` };
    await say(memory, thread, "I like tea.");
    now = new Date("2030-05-01T12:00:00Z");
    await say(memory, other, "I like rye.");
    await say(memory, thread, "I like figs.");
    expect(await textsOf(memory, thread)).toEqual(["The user likes tea.", "The user likes rye."]);
    expect(model.calls).toHaveLength(2);
    expect((await eventsOf(db, thread, "facts")).at(-1)).toBe("create skipped daily_cap");
    const retry_at = new Date("2030-05-02T10:00:00Z");
    expect(await taskOf(db, thread, "facts")).toMatchObject({
      done_until: 0,
      attempts: 0,
      retry_at,
    });

    now = new Date("2030-05-02T10:00:01Z");
    expect(await memory.upkeep()).toBe(1);
    expect((await textsOf(memory, thread)).at(-1)).toBe("The user likes figs.");
    const clock = () => now;
    expect(await db.memory({ clock }).stats({ scope: thread.scope })).toMatchObject({
      written: 3,
      rejected: 0,
    });
  });
});
