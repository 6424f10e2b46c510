import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { HashingEmbeddings, type ScriptedReply } from "../../src/testing/index.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { type Address, eventsOf, newAddress, say, taskOf, textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const configured = (memories: Record<string, number> = {}) => ({ memories: { extract: true, ...memories } });

/** The answer of a model that knows, for each thing said, the facts in it. */
const knowing = (answers: Record<string, ReturnType<typeof candidate>[]>) => (prompt: string) =>
  facts(
    ...Object.entries(answers).flatMap(([words, candidates]) => {
      const number = /number="(\d+)"[^>]*>[^<]*$/.exec(prompt.split(words)[0]!)?.[1];
      if (!prompt.includes(words) || number === undefined) return [];
      return candidates.map((fact) => ({ ...fact, evidence: { ...fact.evidence, message: Number(number) } }));
    }),
  );
/** A memory whose model knows `answers`. */
const learning = (answers: Parameters<typeof knowing>[0], memories: Record<string, number> = {}) =>
  db.memory({ model: taskModel({ fact_extraction: knowing(answers) }), config: configured(memories) });
const named = (value: string, quote: string, confidence: number) =>
  candidate(`The user's name is ${value}.`, quote, { category: "identity", key: "Name", value, confidence });

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

  it("end with the surest: Alex at turn 5, Al ignored at 50, Alexander at 80", async () => {
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
    const trail = await memory.memories.history(alex!.id, thread);
    expect(trail.map(({ event, new: next }) => [event, next])).toEqual([
      ["UPDATE", { supersededBy: alexander?.id, reason: "confidence" }],
      [
        "UPDATE",
        { refused: "The user's name is Al.", confidence: 0.6, origin: "user", reason: "confidence" },
      ],
      ["CONSENT", expect.objectContaining({ via: "said", value: "Alex" })],
      ["ADD", expect.objectContaining({ value: "Alex" })],
    ]);
  });

  it("end alike when the worker was away for all of it", async () => {
    const thread = newAddress();
    const config = { ...configured(), upkeep: { retryDelayMs: 3_600_000 } };
    const down = db.memory({ model: taskModel({ fact_extraction: () => new Error("down") }), config });
    await playTurns(down, thread, 80);
    await db.pool.query(`update "${db.schema}".work set retry_at = now(), attempts = 0 where kind = 'facts'`);
    const model = taskModel({ fact_extraction: knowing(example) });
    const memory = db.memory({ model, config });
    await memory.upkeep();
    expect(await nameOf(memory, thread)).toEqual(["Alexander active", "Alex superseded"]);
    expect(model.prompts("fact_extraction")).toHaveLength(8);
    expect(model.prompts("fact_extraction")[7]).toContain(
      '<fact number="1" category="profile" key="name">Alex</fact>',
    );
  });

  it("are won by a plain correction, whatever the confidence", async () => {
    const correction = { ...named("Bo", "Bo", 0.5), correction: true };
    const answers = { ...example, "No, it is Bo": [correction] };
    const memory = learning(answers);
    const thread = newAddress();
    await say(memory, thread, "My name is Alex.");
    await say(memory, thread, "No, it is Bo.");
    expect(await nameOf(memory, thread)).toEqual(["Bo active", "Alex superseded"]);
  });

  it("leave what was said earlier and arrives late in the past", async () => {
    const memory = learning(example);
    const thread = newAddress();
    await say(memory, thread, "My full name is Alexander.");
    const messages = [new HumanMessage("My name is Alex.")];
    await memory.remember({ ...thread, messages, saidAt: new Date("2020-01-01T00:00:00Z") });
    expect(await nameOf(memory, thread)).toEqual(["Alex superseded", "Alexander active"]);
  });

  it.each([
    ["a statement", { category: "profile", key: null, value: null }],
    ["a key of its own", { category: "profile", key: "side_job", value: "firefighter" }],
    ["a key with a word in common", { category: "profile", key: "job_boss", value: "firefighter" }],
    ["another category", { category: "knowledge", key: "job", value: "firefighter" }],
  ])("are none with %s, whatever number the model gives it", async (_, fields) => {
    const job = candidate("The user works as an engineer.", "engineer", {
      ...{ category: "identity", key: "Occupation", value: "engineer" },
    });
    const also = candidate("The user is also a volunteer firefighter.", "volunteer firefighter", {
      ...fields,
      updates: 1,
    });
    const memory = learning({ "as an engineer": [job], "a volunteer": [also] });
    const thread = newAddress();
    await say(memory, thread, "I work as an engineer.");
    await say(memory, thread, "I am also a volunteer firefighter.");
    expect(await textsOf(memory, thread)).toEqual([
      "The user works as an engineer.",
      "The user is also a volunteer firefighter.",
    ]);
  });

  it("stay within the slot that the model named by its number, if code agrees", async () => {
    const to = (key: string, value: string, quote: string) =>
      candidate(`The user's ${key} is ${value}.`, quote, { category: "profile", key, value, updates: 1 });
    const memory = db.memory({
      model: taskModel({
        fact_extraction: knowing({
          "the home city is Rome": [{ ...to("home city", "Rome", "Rome"), updates: null }],
          "my city of residence is Porto": [to("city_of_residence", "Porto", "Porto")],
          "the dog is Rex": [to("dog_name", "Rex", "Rex")],
        }),
      }),
      // Nobody is asked here, so that the slot is filled at once.
      config: { ...configured(), consent: { sensitive: [] } },
    });
    const thread = newAddress();
    for (const says of ["the home city is Rome", "my city of residence is Porto", "the dog is Rex"]) {
      await say(memory, thread, says);
    }
    const held = await memory.memories.list({ scope: thread.scope });
    expect(held.map(({ key, value }) => `${key}: ${value}`)).toEqual(["dog_name: Rex", "city: Porto"]);
  });
});

describe("statements that are nearly equal", () => {
  const tea = (text: string, quote: string) =>
    candidate(text, quote, { category: "preferences", importance: 4 });
  const answers = {
    "I drink green tea": [tea("The user drinks green tea in the morning at home.", "I drink green tea")],
    "Green tea it is": [tea("The user drinks green tea in the morning at work.", "Green tea it is")],
  };
  const compare = async (same: (prompt: string) => ScriptedReply, embeddings?: HashingEmbeddings) => {
    const model = taskModel({ fact_extraction: knowing(answers), same_fact: same });
    const memory = db.memory({
      model,
      config: configured({ askSimilarity: 0.5 }),
      ...(embeddings && { embeddings }),
    });
    if (embeddings) await memory.setup();
    const thread = newAddress();
    await say(memory, thread, "I drink green tea.");
    await say(memory, thread, "Green tea it is.");
    const stored = await memory.memories.list({ scope: thread.scope });
    return { memory, thread, model, stored };
  };
  const verdict =
    (answer: string, pair = 1) =>
    (): ScriptedReply => ({ structured: { reasoning: "", verdicts: [{ pair, verdict: answer }] } });

  it.each([undefined, new HashingEmbeddings()])("are one when the model says so", async (embeddings) => {
    const { stored, model, thread } = await compare(verdict("same"), embeddings);
    expect(stored.map(({ text, seenCount }) => [text, seenCount])).toEqual([
      ["The user drinks green tea in the morning at home.", 2],
    ]);
    expect(model.prompts("same_fact")).toEqual([
      '<pairs>\n<pair number="1"><remembered>The user drinks green tea in the morning at home.</remembered><said>The user drinks green tea in the morning at work.</said></pair>\n</pairs>',
    ]);
    expect(await eventsOf(db, thread, "extract")).toEqual(["classify ok created", "classify ok merged"]);
  });

  it.each([undefined, new HashingEmbeddings()])(
    "take the newer wording when it says more",
    async (embeddings) => {
      const { memory, stored, thread } = await compare(verdict("says_more"), embeddings);
      expect(stored).toMatchObject([
        {
          text: "The user drinks green tea in the morning at work.",
          seenCount: 2,
          source: { threadId: thread.threadId, seqs: [2], quote: "Green tea it is" },
        },
      ]);
      const [update] = await memory.memories.history(stored[0]!.id, thread);
      expect(update).toMatchObject({
        event: "UPDATE",
        old: { text: "The user drinks green tea in the morning at home." },
        new: { text: "The user drinks green tea in the morning at work." },
      });
      const { changes } = await memory.recall(thread);
      expect(changes.top.map(({ event, line }) => [event, line])).toContainEqual([
        "created",
        "[Preferences] The user drinks green tea in the morning at work. (imp=4)",
      ]);
      const found = await memory.query({ scope: thread.scope, query: "work" });
      expect(found.map(({ memory: { text } }) => text)).toEqual([
        "The user drinks green tea in the morning at work.",
      ]);
      expect(await memory.query({ scope: thread.scope, query: "home" })).toEqual([]);
    },
  );

  const both = ["same", "different"].map((answer) => ({ pair: 1, verdict: answer }));
  const useless: [string, () => ScriptedReply][] = [
    ["says that they differ", verdict("different")],
    ["says nothing of the pair", verdict("same", 2)],
    ["contradicts itself", () => ({ structured: { reasoning: "", verdicts: both } })],
    ["fails", () => new Error("overloaded")],
    ["answers with prose", () => "They are the same."],
  ];
  it.each(useless)("stay two when the model %s", async (_, same) => {
    const { stored } = await compare(same);
    expect(stored).toHaveLength(2);
  });
});

it("statements of one reply that are nearly equal are compared as those of two are", async () => {
  const tea = (text: string, quote: string) => candidate(text, quote, { category: "preferences" });
  const answers = {
    "I drink green tea": [
      tea("The user drinks green tea in the morning at home.", "I drink green tea"),
      tea("The user drinks green tea in the morning at work.", "I drink green tea"),
    ],
  };
  const same = () => ({ structured: { reasoning: "", verdicts: [{ pair: 1, verdict: "same" }] } });
  for (const [reply, count] of [
    [same, 1],
    [() => "They are the same.", 2],
  ] as const) {
    const model = taskModel({ fact_extraction: knowing(answers), same_fact: reply });
    const memory = db.memory({ model, config: configured({ askSimilarity: 0.5 }) });
    const thread = newAddress();
    await say(memory, thread, "I drink green tea.");
    expect(await textsOf(memory, thread)).toHaveLength(count);
  }
});

it("what the model itself finds not worth keeping is left out", async () => {
  const trifles = [0, 0.9].map((importance) =>
    candidate(`The user sneezed ${importance} times.`, "I sneezed", { importance }),
  );
  const memory = learning({ "I sneezed": trifles });
  const thread = newAddress();
  await say(memory, thread, "I sneezed.");
  expect(await textsOf(memory, thread)).toEqual([]);
  expect(await eventsOf(db, thread, "extract")).toEqual([
    "classify skipped low_importance",
    "classify skipped low_importance",
  ]);
});

describe("caps", () => {
  it("keep the best of a message", async () => {
    const all = [
      candidate("The user hikes.", "hike", { importance: 1 }),
      candidate("The user bakes.", "bake", { importance: 5, confidence: 0.5 }),
      candidate("The user paints.", "paint", { importance: 4 }),
      candidate("The user sings.", "sing", { importance: 3 }),
      candidate("The user sings!", "sing", { importance: 2 }),
    ];
    const memory = learning({ "I hike": all }, { writesPerTurn: 3 });
    const thread = newAddress();
    await say(memory, thread, "I hike, bake, paint and sing.");
    expect((await textsOf(memory, thread)).toSorted()).toEqual([
      "The user bakes.",
      "The user paints.",
      "The user sings.",
    ]);
    expect((await eventsOf(db, thread, "extract")).slice(3)).toEqual([
      "classify skipped duplicate",
      "classify skipped turn_cap",
    ]);
  });

  it("of a day defer what comes then, without asking the model", async () => {
    let now = new Date("2030-05-01T10:00:00Z");
    const model = taskModel({
      fact_extraction: (prompt) =>
        facts(
          ...[...prompt.matchAll(/number="(\d+)"[^>]*>I like (\w+)/g)].map(([, message, thing]) =>
            candidate(`The user likes ${thing}.`, `I like ${thing}`, { message: Number(message) }),
          ),
        ),
    });
    const memory = db.memory({ model, config: configured({ writesPerDay: 2 }), clock: () => now });
    const thread = newAddress();
    const other = { ...thread, threadId: `${thread.threadId}-2` };
    await say(memory, thread, "I like tea.");
    now = new Date("2030-05-01T12:00:00Z");
    await say(memory, other, "I like rye.");
    await say(memory, thread, "I like figs.");
    expect(await textsOf(memory, thread)).toEqual(["The user likes tea.", "The user likes rye."]);
    expect(model.calls).toHaveLength(2);
    expect((await eventsOf(db, thread, "extract")).at(-1)).toBe("create skipped daily_cap");
    expect(await taskOf(db, thread, "facts")).toMatchObject({
      ...{ done_until: 0, attempts: 0 },
      retry_at: new Date("2030-05-02T10:00:00Z"),
    });

    now = new Date("2030-05-02T10:00:01Z");
    expect(await memory.upkeep()).toBe(1);
    expect((await textsOf(memory, thread)).at(-1)).toBe("The user likes figs.");
    expect(await db.memory({ clock: () => now }).stats({ scope: thread.scope })).toMatchObject({
      written: 3,
      rejected: 0,
    });
  });
});
