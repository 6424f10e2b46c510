import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { MemoryDraft } from "../../src/index.js";
import type { Memory } from "../../src/memory.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const newUser = () => ({ scope: { userId: randomUUID() } });

/** Vectors of which all are nearly one: only what code sees tells texts apart. */
class Alike extends HashingEmbeddings {
  override async embedDocuments(texts: string[]): Promise<number[][]> {
    return texts.map((text) => [1, 0.01 * (text.length % 5), ...Array(this.dimensions - 2).fill(0)]);
  }
}

const ways = [
  ["by words", async () => db.memory()],
  [
    "by vectors",
    async () => {
      const memory = db.memory({ embeddings: Object.assign(new Alike(), { model: "alike" }) });
      await memory.setup();
      return memory;
    },
  ],
] as const;

const textsOf = async (memory: Memory, user: ReturnType<typeof newUser>) =>
  (await memory.memories.list(user)).map(({ text }) => text).toReversed();

/** Long enough that words alone make them nearly one. */
const long = (detail: string) =>
  `The user's team of engineers at the harbour office in the old town meets ${detail} in the large room on the top floor with coffee, fresh rolls and the latest plans for the new bridge over the river.`;

describe.each(ways)("statements of one batch, compared %s,", (_, open) => {
  it("are one where they are nearly the same: the later is merged into the first", async () => {
    const memory = await open();
    const user = newUser();
    const drafts = [long("weekly"), long("weekly"), long("really weekly"), long("indeed weekly")];
    const outcomes = await memory.memories.add(
      drafts.map((text) => ({ text })),
      user,
    );
    expect(outcomes.slice(2).map(({ outcome }) => outcome)).toEqual(["merged", "merged"]);
    expect(new Set(outcomes.map(({ id }) => id)).size).toBe(1);
    expect((await memory.memories.list(user)).map(({ text, seenCount }) => [text, seenCount])).toEqual([
      [long("weekly"), 4],
    ]);
  });

  it.each([
    ["on Tuesday", "on Wednesday"],
    ["in May", "in June"],
    ["two times a month", "three times a month"],
    ["on the first Monday", "on the second Monday"],
    ["with Anna", "with Maria"],
    ["before lunch", "after lunch"],
    ["weekly", "also weekly"],
    ["weekly", "never weekly"],
    ["at 9 am", "at 9 pm"],
    ["for 5 hours", "for 5 minutes"],
  ])("stay two, and stay so when told one by one: %s / %s", async (first, second) => {
    const memory = await open();
    const drafts: MemoryDraft[] = [{ text: long(first) }, { text: long(second) }];
    const atOnce = newUser();
    await memory.memories.add(drafts, atOnce);
    expect(await textsOf(memory, atOnce)).toEqual([long(first), long(second)]);
    const oneByOne = newUser();
    for (const draft of drafts) await memory.memories.add(draft, oneByOne);
    expect(await textsOf(memory, oneByOne)).toEqual([long(first), long(second)]);
  });
});

it.each([
  ["two times a month", "2 times a month"],
  ["on Tue", "on Tuesday"],
  ["at 10am", "at 10 a.m."],
  ["with 1,000 guests", "with 1000 guests"],
])("statements are one where only the writing differs: %s / %s", async (first, second) => {
  const memory = await ways[1][1]();
  const user = newUser();
  await memory.memories.add({ text: long(first) }, user);
  await memory.memories.add({ text: long(second) }, user);
  expect(await textsOf(memory, user)).toEqual([long(first)]);
});

it("a batch of hundreds that are alike but for a number is written in a few statements", async () => {
  const { pool, inTransactions } = watchedPool(db.pool);
  const memory = db.memory({ database: pool });
  const drafts = Array.from({ length: 150 }, (_, n) => ({ text: long(`in room ${n}`) }));
  const outcomes = await memory.memories.add(drafts, newUser());
  expect(new Set(outcomes.map(({ id }) => id)).size).toBe(150);
  expect(inTransactions.length).toBeLessThan(12);
});

describe("words that every object has", () => {
  const words = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf", "prototype"];
  it.each(words)("%s is a key, a tag, a name and a value like any other", async (word) => {
    const memory = db.memory();
    const user = newUser();
    const draft = (value: string): MemoryDraft => ({
      ...{ category: "profile", key: word, value, text: `The user's ${word} is ${value}.`, tags: [word] },
      ...{ actorId: word, agentId: word, runId: word },
    });
    await memory.memories.add(draft(word), user);
    expect(await memory.memories.add(draft("blue"), user)).toMatchObject([{ outcome: "replaced" }]);
    const [active] = await memory.memories.list(user);
    expect(active).toMatchObject({ value: "blue", tags: [word], actorId: word });
    const found = await memory.query({ ...user, query: `${word} blue`, filters: { actor_id: word } });
    expect(found.map(({ memory: { id } }) => id)).toEqual([active!.id]);
    await expect(
      memory.memories.add({ text: "The user bakes.", category: word }, user),
    ).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await expect(
      memory.query({ ...user, query: "x", filters: { [word]: "x" } as never }),
    ).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  });
});

describe("updates of who the user is", () => {
  it("are held to stricter bands than other statements", async () => {
    const memory = db.memory({
      config: { memories: { mergeSimilarity: 0.7, contextMergeSimilarity: 0.97 } },
    });
    const user = newUser();
    const said = (category: string, extra: string) => ({
      category,
      text: `For ${category} the user prefers answers that are short, plain and kind${extra}.`,
    });
    for (const category of ["knowledge", "tone"]) {
      await memory.memories.add(said(category, ""), { ...user, consent: "given" });
      await memory.memories.add(said(category, " with examples"), { ...user, consent: "given" });
    }
    const known = await memory.memories.list(user);
    expect(known.map(({ category }) => category).toSorted()).toEqual(["knowledge", "tone", "tone"]);
  });

  it("count as said twice only when they are nearly the same words", async () => {
    const memory = db.memory();
    const user = newUser();
    const goal = (text: string, seq: number) => ({
      ...{ category: "goals", text, source: { threadId: "t", seqs: [seq] } },
    });
    const outcomes = [];
    for (const [seq, text] of [
      "The user's goal is to open a small bakery near the harbour.",
      "The user's goal is to open a small brewery near the station.",
      "The user's goal is to open the small bakery near the harbour.",
    ].entries()) {
      outcomes.push(...(await memory.memories.add(goal(text, seq * 2), user)));
    }
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["proposed", "proposed", "created"]);
  });
});
