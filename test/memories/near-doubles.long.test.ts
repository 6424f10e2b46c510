import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryDraft } from "../../src/index.js";
import { brokenInvariants } from "../support/broken-invariants.js";
import { chosenVectors } from "../support/chosen-vectors.js";
import { useTestDatabase } from "../support/test-database.js";
import { asDrafts, textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const newUser = () => ({ scope: { userId: randomUUID() } });

/** Vectors of which all are nearly one: only what code sees tells texts apart. */
const alike = chosenVectors((text) => [1, 0.01 * (text.length % 5), ...Array(14).fill(0)]);

const ways = [
  ["by words", async () => db.memory()],
  [
    "by vectors",
    async () => {
      const memory = db.memory({ embeddings: alike });
      await memory.setup();
      return memory;
    },
  ],
] as const;

/** Long enough that words alone make them nearly one. */
const long = (detail: string) =>
  `The user's team of engineers at the harbour office in the old town meets ${detail} in the large room on the top floor with coffee, fresh rolls and the latest plans for the new bridge over the river.`;

describe.each(ways)("statements of one batch, compared %s", (_, open) => {
  it("Statements of one batch merge if they read the same, and are only linked if worded otherwise", async () => {
    const memory = await open();
    const user = newUser();
    const drafts = [long("weekly"), long("Weekly").toUpperCase(), long("really weekly")];
    const outcomes = await memory.memories.add({ ...user, memories: asDrafts(drafts) });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["created", "merged", "created"]);
    const [later, first] = await memory.memories.list(user);
    expect([first, later]).toMatchObject([{ seenCount: 2 }, { text: long("really weekly") }]);
    const { rows } = await db.pool.query(
      `select from "${db.schema}".relation r join "${db.schema}".memory m on m.ref in (r.from_ref, r.to_ref)
       where m.id = $1`,
      [later?.id],
    );
    expect(rows.length).toBeGreaterThan(0);
  });

  it.each([
    ["on Tuesday", "on Wednesday"],
    ["with Anna", "with Maria"],
    ["weekly", "never weekly"],
  ])(
    "Statements of different details stay two in one call and in two calls: %s / %s",
    async (first, second) => {
      const memory = await open();
      const drafts: MemoryDraft[] = [{ text: long(first) }, { text: long(second) }];
      const atOnce = newUser();
      await memory.memories.add({ ...atOnce, memories: drafts });
      expect(await textsOf(memory, atOnce)).toEqual([long(first), long(second)]);
      const oneByOne = newUser();
      for (const draft of drafts) await memory.memories.add({ ...oneByOne, memories: draft });
      expect(await textsOf(memory, oneByOne)).toEqual([long(first), long(second)]);
    },
  );
});

describe("sequences of drafts", () => {
  const field = fc.constantFrom(
    { category: "preferences", key: "editor" },
    { category: "profile", key: "city" },
    { category: "goals", key: "race" },
    { category: "preferences" },
    { category: "goals" },
  );
  const someDraft = fc
    .record({
      field,
      name: fc.constantFrom("Vim", "Porto", "Rome"),
      on: fc.option(fc.integer({ min: 1, max: 5 })),
      origin: fc.constantFrom("user" as const, "assistant" as const),
      correction: fc.boolean(),
    })
    .map(({ field, name, on, ...fields }): MemoryDraft => {
      const validFrom = on === null ? {} : { validFrom: new Date(Date.UTC(2025, 0, on)) };
      return {
        ...field,
        ...fields,
        ...validFrom,
        value: name,
        text: `The user has chosen ${name}.`,
      };
    });
  const someCalls = fc.array(fc.tuple(fc.array(someDraft, { maxLength: 6 }), fc.boolean()), {
    maxLength: 5,
  });
  const expectOnce = (names: readonly string[]) => expect(names).toEqual([...new Set(names)]);

  it("Any sequence of drafts gives each draft an outcome and stores nothing twice", async () => {
    const memory = db.memory();
    await fc.assert(
      fc.asyncProperty(someCalls, async (calls) => {
        const user = newUser();
        for (const [drafts, isAgreed] of calls) {
          const access = { ...user, ...(isAgreed && { consent: "given" as const }) };
          const outcomes = await memory.memories.add({ ...access, memories: drafts });
          expect(outcomes).toHaveLength(drafts.length);
          for (const { id, consentId, outcome } of outcomes) {
            expect(id === null).toBe(consentId !== undefined);
            if (id !== null)
              expect(await memory.memories.get({ ...user, id }), outcome).not.toBeNull();
          }
          const active = await memory.memories.list(user);
          expectOnce(
            active.flatMap(({ category, key }) => (key === null ? [] : `${category}/${key}`)),
          );
          expectOnce(active.map(({ kind, text }) => `${kind} ${text}`));
          const asked = await memory.consents.list(user);
          expectOnce(
            asked.flatMap(({ category, key }) => (key === null ? [] : `${category}/${key}`)),
          );
        }
      }),
      { numRuns: 60, endOnFailure: true },
    );
    expect(await brokenInvariants(db)).toEqual([]);
  });
});

it("A goal counts as said twice only in the same words", async () => {
  const memory = db.memory();
  const user = newUser();
  const goal = (text: string, seq: number) => ({
    category: "goals",
    text,
    source: { threadId: "t", seqs: [seq] },
  });
  const outcomes = [];
  for (const [seq, text] of [
    "The user's goal is to open a small bakery near the harbour.",
    "The user's goal is to open a small brewery near the station.",
    "The user's goal is to open the small bakery near the harbour.",
    "The user's goal is not to open a small bakery near the harbour.",
    "the user’s goal is to open a small bakery near the harbour",
  ].entries()) {
    outcomes.push(...(await memory.memories.add({ ...user, memories: goal(text, seq * 2) })));
  }
  expect(outcomes.map(({ outcome }) => outcome)).toEqual([
    ...["proposed", "proposed", "proposed", "proposed"],
    "created",
  ]);
});
