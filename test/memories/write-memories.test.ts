import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryDraft } from "../../src/index.js";
import type { Memory } from "../../src/memory.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestOptions } from "../support/test-memory.js";
import { asDrafts } from "../support/thread-facts.js";
import { watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const newUser = () => ({ scope: { userId: randomUUID() } });
const open = (options?: TestOptions) => ({ memory: db.memory(options), user: newUser() });
type User = ReturnType<typeof newUser>;

const name = (value: string, confidence = 1): MemoryDraft => ({
  category: "profile",
  key: "stage_name",
  value,
  confidence,
  text: `The user's stage name is ${value}.`,
});
const everything = (memory: Memory, { scope }: User) =>
  memory.memories.list({
    scope,
    states: ["active", "superseded", "merged", "soft_deleted"],
    limit: 1_000,
  });

async function revisionOf({
  scope,
}: User): Promise<{ revision: number; memories: number; length: number }> {
  const { rows } = await db.pool.query(
    `select o.revision::int, o.memory_count::int as memories, o.memory_length::int as length
     from "${db.schema}".owner o where o.user_id = $1`,
    [scope.userId],
  );
  return rows[0];
}

const every = (pattern: RegExp) =>
  Array.from({ length: 0x11000 }, (_, code) => String.fromCodePoint(code)).filter((character) =>
    pattern.test(character),
  );

it.each([
  ["dash", every(/\p{Dash}/u), (dash: string) => `The user drives a Rolls${dash}Royce.`],
  [
    "quotation mark",
    every(/(?!['‘’‚‛＇])\p{Quotation_Mark}/u),
    (mark: string) => `The user calls the boat ${mark}Blue Bottle${mark}.`,
  ],
  ["apostrophe", [..."'‘’‚‛＇ʼ"], (mark: string) => `The user${mark}s boat is red.`],
  [
    "closing mark",
    every(/\p{Sentence_Terminal}/u),
    (mark: string) => `The user has two boats${mark}`,
  ],
  ["space", every(/\p{White_Space}/u), (space: string) => `The user has${space}two boats.`],
])("Texts that differ in one Unicode %s alone are one memory", async (_, marks, textWith) => {
  const { memory, user } = open();
  await memory.memories.add({ ...user, memories: asDrafts(marks.map(textWith)) });
  await memory.memories.add({ ...user, memories: { text: textWith(marks.at(-1) ?? "") } });
  expect(await everything(memory, user)).toMatchObject([{ seenCount: marks.length + 1 }]);
});

describe("concurrent writers", () => {
  it("Concurrent writers of one statement leave one memory with a seenCount of 50", async () => {
    const { memory, user } = open();
    const drafts = Array.from({ length: 50 }, (_, index) => ({
      text: index % 2 === 0 ? "The user likes green tea." : "The user  likes GREEN tea",
    }));
    const outcomes = await Promise.all(
      drafts.map((draft) => memory.memories.add({ ...user, memories: draft })),
    );
    const [tea, ...others] = await everything(memory, user);
    expect([tea?.seenCount, others]).toEqual([50, []]);
    expect(new Set(outcomes.map(([outcome]) => outcome?.id))).toEqual(new Set([tea?.id]));
    expect(outcomes.filter(([outcome]) => outcome?.outcome === "created")).toHaveLength(1);
    expect(outcomes.filter(([outcome]) => outcome?.outcome === "merged")).toHaveLength(49);
    const history = await memory.memories.history({ ...user, id: tea!.id });
    expect(history.map(({ event }) => event)).toEqual([...Array(49).fill("MERGE"), "ADD"]);
    expect(await revisionOf(user)).toMatchObject({ revision: 1, memories: 1 });
  });

  it("Concurrent writers of one slot leave one active value and a full trail", async () => {
    const { memory, user } = open();
    const values = Array.from({ length: 20 }, (_, index) => `Name${index}`);
    await Promise.all(
      values.map((value) => memory.memories.add({ ...user, memories: name(value) })),
    );
    const all = await everything(memory, user);
    expect(all.map(({ value }) => value).toSorted()).toEqual(values.toSorted());
    const [active, ...others] = all.filter(({ state }) => state === "active");
    expect(others).toEqual([]);
    // Each closed one leads to the next, and the last to the active one.
    const next = new Map(all.map(({ id, supersededBy }) => [id, supersededBy]));
    const chain: string[] = [];
    const heads = new Set(all.map(({ supersededBy }) => supersededBy));
    for (
      let id = all.find((memory) => !heads.has(memory.id))?.id ?? null;
      id;
      id = next.get(id) ?? null
    )
      chain.push(id);
    expect([chain.length, chain.at(-1)]).toEqual([20, active?.id]);
    for (const closed of all.filter(({ state }) => state !== "active")) {
      expect(closed.validTo).not.toBeNull();
      const trail = await memory.memories.history({ ...user, id: closed.id });
      expect(trail.map(({ event }) => event).filter((event) => event !== "LINK")).toEqual([
        "UPDATE",
        "ADD",
      ]);
    }
    expect(await revisionOf(user)).toMatchObject({ revision: 20, memories: 1 });
  });

  it("Concurrent batches in opposite orders do not deadlock and lose nothing", async () => {
    const { memory, user } = open();
    const texts = Array.from({ length: 10 }, (_, index) => ({
      text: `The user owns item number ${index}.`,
    }));
    await Promise.all(
      Array.from({ length: 12 }, (_, writer) =>
        memory.memories.add({ ...user, memories: writer % 2 === 0 ? texts : texts.toReversed() }),
      ),
    );
    expect((await everything(memory, user)).map(({ seenCount }) => seenCount)).toEqual(
      Array(10).fill(12),
    );
  });

  it("Concurrent writers and turns that were shown the same memories do not deadlock", async () => {
    const { memory, user } = open();
    const [tea] = await memory.memories.add({ ...user, memories: { text: "The user likes tea." } });
    const shown = { revision: 1, memoryIds: [tea!.id!] };
    const rounds = Array.from({ length: 20 }, (_, round) =>
      memory.remember({
        ...user,
        threadId: `${user.scope.userId}-${round % 3}`,
        shown,
        messages: [new HumanMessage({ id: `${round}`, content: "Hi" })],
      }),
    );
    const writes = Array.from({ length: 20 }, () =>
      memory.memories.add({ ...user, memories: { text: "The user likes tea." } }),
    );
    await Promise.all([...rounds, ...writes]);
    expect((await memory.memories.get({ ...user, id: tea!.id! }))?.seenCount).toBe(21);
  });
});

describe("batches", () => {
  it("A batch returns outcomes in the order of its drafts", async () => {
    const { memory, user } = open();
    await memory.memories.add({ ...user, memories: name("Alex") });
    const outcomes = await memory.memories.add({
      ...user,
      memories: [
        { text: "The user likes tea." },
        { text: "…" },
        name("Al", 0.6),
        { text: "the user likes TEA" },
        name("Alexander"),
        name("Zed", 0.1),
        { text: "" },
        { ...name("Alix"), validFrom: new Date("2001-01-01") },
      ],
    });
    const expected = [
      "created",
      "rejected empty",
      "kept",
      "merged",
      "replaced",
      "kept",
      "rejected empty",
      "closed",
    ];
    expect(outcomes.map(({ outcome, problems }) => [outcome, ...problems].join(" "))).toEqual(
      expected,
    );
    expect(outcomes[0]?.id).toBe(outcomes[3]?.id);
    expect(outcomes[5]?.id).toBe(outcomes[4]?.id);
    const [tea] = await memory.memories.list({ ...user, categories: ["knowledge"] });
    expect(tea).toMatchObject({ id: outcomes[0]?.id, seenCount: 2 });
    expect((await memory.memories.get({ ...user, id: outcomes[7]!.id! }))?.state).toBe(
      "superseded",
    );
  });

  it.each([
    ["…", {}, /no words/],
    ["x".repeat(700), { kind: "episode" as const }, /more than 600 characters/],
    ["Sail.", { kind: "procedure" as const }, /numbered steps/],
    ["The user likes tea.", {}, null],
  ])(
    "The outcome of a draft says in a sentence why %j %j is rejected",
    async (text, how, message) => {
      const [outcome] = await db
        .memory()
        .memories.add({ ...newUser(), memories: { text, ...how } });
      if (message === null) expect(outcome).not.toHaveProperty("message");
      else
        expect(outcome).toMatchObject({
          outcome: "rejected",
          message: expect.stringMatching(message),
        });
    },
  );

  it("A batch leaves the same memories as its drafts added one by one", async () => {
    const memory = db.memory();
    const seen = new Set<string>();
    const drafts = fc.array(
      fc
        .record({
          key: fc.constantFrom(undefined, undefined, "editor", "shell"),
          tool: fc.nat(3),
          origin: fc.constantFrom("user" as const, "assistant" as const),
          end: fc.constantFrom("", " daily", " Daily!"),
        })
        .map(({ key, tool, origin, end }): MemoryDraft => {
          const text = `The user has come to like the old tool number ${tool} at work${end}.`;
          return { category: "preferences", key, origin, text, ...(key && { value: `${tool}` }) };
        }),
      { maxLength: 8 },
    );
    const stateOf = async (user: User) =>
      (await everything(memory, user)).map(
        ({ text, key, state, seenCount, origin }) =>
          `${text} ${key} ${state} ${seenCount} ${origin}`,
      );
    await fc.assert(
      fc.asyncProperty(drafts, fc.nat(8), async (drafts, stored) => {
        const [atOnce, oneByOne] = [newUser(), newUser()];
        const outcomes = [
          ...(await memory.memories.add({ ...atOnce, memories: drafts.slice(0, stored) })),
          ...(await memory.memories.add({ ...atOnce, memories: drafts.slice(stored) })),
        ];
        const each = [];
        for (const draft of drafts)
          each.push(...(await memory.memories.add({ ...oneByOne, memories: draft })));
        for (const { outcome } of outcomes) seen.add(outcome);
        expect(outcomes.map(({ outcome }) => outcome)).toEqual(each.map(({ outcome }) => outcome));
        expect(await stateOf(atOnce)).toEqual(await stateOf(oneByOne));
      }),
      { numRuns: 40, endOnFailure: true },
    );
    // Which ones depends on the seed.
    expect(seen.size).toBeGreaterThan(2);
  });

  it("A batch with one invalid draft writes nothing", async () => {
    const { memory, user } = open();
    const invalid: MemoryDraft[] = [
      { text: "The user bakes.", category: "hobbies" },
      { text: "The user bakes.", importance: 9 },
      { text: "The user bakes.", confidence: -1 },
      { text: "The user bakes.", key: "…" },
      { text: "A lesson.", kind: "note" },
    ];
    for (const draft of invalid) {
      await expect(
        memory.memories.add({ ...user, memories: [{ text: "The user hikes." }, draft] }),
      ).rejects.toThrow();
    }
    expect(await everything(memory, user)).toEqual([]);
  });
});

it("A statement merges into the slot that says the same, whether the slot is free or taken", async () => {
  const { memory, user } = open();
  const job = (value: string) => ({
    category: "profile",
    key: "job",
    value,
    text: `The user works as a ${value}.`,
  });
  for (const value of ["cook", "baker"]) {
    await memory.memories.add({ ...user, memories: { text: `The user works as a ${value}.` } });
    await memory.memories.add({ ...user, memories: job(value) });
  }
  const all = await everything(memory, user);
  const [active, ...others] = all.filter(({ state }) => state === "active");
  expect([active?.value, others]).toEqual(["baker", []]);
  expect(all.filter(({ state }) => state === "merged")).toHaveLength(2);
  // What fills another slot stays there.
  const [elsewhere] = await memory.memories.add({
    ...user,
    memories: { ...job("baker"), key: "dream" },
  });
  expect(elsewhere).toMatchObject({ outcome: "merged", id: active?.id });
  expect(await revisionOf(user)).toMatchObject({ memories: 1 });
});

describe("writes", () => {
  it("A write is rolled back as a whole when a part fails", async () => {
    const user = newUser();
    const memory = db.memory({ embeddings: new HashingEmbeddings() });
    await memory.setup();
    await memory.memories.add({ ...user, memories: { text: "The user likes tea." } });
    const before = await revisionOf(user);
    const long = { text: "The user hikes.", source: { threadId: "t", seqs: [2 ** 40] } };
    await expect(
      memory.memories.add({ ...user, memories: [{ text: "The user swims." }, long] }),
    ).rejects.toThrow();
    expect(await revisionOf(user)).toEqual(before);
    expect(await everything(memory, user)).toHaveLength(1);
  });

  it("memories.add takes at most 5,000 drafts, and searches for hundreds in one SQL statement", async () => {
    const user = newUser();
    const { pool, inTransactions } = watchedPool(db.pool);
    const memory = db.memory({ database: pool });
    const drafts = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ text: `word${n} term${n} lexeme${n}` }));
    const message = expect.stringMatching(/At most 5000 .* got 5001.*several calls/);
    await expect(memory.memories.add({ ...user, memories: drafts(5_001) })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message,
    });
    expect(inTransactions).toEqual([]);
    const outcomes = await memory.memories.add({ ...user, memories: drafts(450) });
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(["created"]));
    expect(inTransactions.filter(({ text }) => text.includes("candidate as"))).toHaveLength(3);
    expect(inTransactions.length).toBeLessThan(12);
    expect(await memory.memories.add({ ...user, memories: drafts(450) })).toEqual(
      outcomes.map(({ id }) => ({ outcome: "merged", id, problems: [] })),
    );
  });
});
