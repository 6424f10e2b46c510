import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KnownMemory } from "../../src/memories/write/statement.js";
import { type MergePlan, type MetMemory, planMerge } from "../../src/owners/merge-plan.rule.js";

const day = (n: number) => new Date(Date.UTC(2026, 0, 1 + n));
const today = day(40);
const thresholds = { merge: 0.95, ask: 0.85, review: 0.75 };

/** Of each topic, texts that say the same. */
const topics = [
  ["Likes green tea.", "Likes the green tea.", "Likes green tea"],
  ["Lives in Porto.", "Lives in the Porto."],
  ["Works at night."],
] as const;
const topicOf = (text: string) => topics.findIndex((texts) => (texts as readonly string[]).includes(text));
const texts = topics.flat();

interface Row {
  readonly id: string;
  readonly key: string | null;
  readonly text: string;
  readonly state: "active" | "superseded" | "merged";
  readonly supersededBy: string | null;
  readonly validFrom: Date;
  readonly validTo: Date | null;
  readonly assertedAt: Date;
  readonly rank: 1 | 2 | 3;
  readonly confidence: number;
  readonly seenCount: number;
}

const fields = {
  text: fc.constantFrom(...texts),
  rank: fc.constantFrom(1 as const, 2 as const, 3 as const),
  confidence: fc.double({ min: 0.1, max: 1, noNaN: true }),
  seenCount: fc.integer({ min: 1, max: 4 }),
};
const asActive = { state: "active" as const, supersededBy: null, validTo: null };

/** What a slot holds and held, in order. */
const slot = (key: string) =>
  fc
    .tuple(
      fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 4 }),
      fc.array(fc.record({ ...fields, saidAgain: fc.integer({ min: 0, max: 9 }) }), {
        minLength: 4,
        maxLength: 4,
      }),
    )
    .map(([days, values]): Omit<Row, "id">[] => {
      const ordered = days.toSorted((one, other) => one - other);
      return ordered.map((from, at) => {
        const { saidAgain, ...value } = values[at] as (typeof values)[number];
        const next = ordered[at + 1];
        const validFrom = day(from);
        const held = { ...value, key, validFrom };
        return next === undefined
          ? { ...held, ...asActive, assertedAt: day(from + saidAgain) }
          : { ...held, state: "superseded", supersededBy: null, validTo: day(next), assertedAt: validFrom };
      });
    });

const free = fc
  .uniqueArray(fc.record({ ...fields, from: fc.integer({ min: 0, max: 30 }) }), {
    selector: ({ text }) => text,
    maxLength: 3,
  })
  .map((rows) =>
    rows.map(({ from, ...row }): Omit<Row, "id"> => {
      return { ...row, ...asActive, key: null, validFrom: day(from), assertedAt: day(from) };
    }),
  );

/** All that is kept of somebody. */
const person = (name: string) =>
  fc
    .tuple(fc.subarray(["city", "drink", "work"]), fc.tuple(slot("city"), slot("drink"), slot("work")), free)
    .map(([keys, slots, others]) =>
      [...slots.flat().filter(({ key }) => keys.includes(key as string)), ...others].map(
        (row, at): Row => ({ ...row, id: `${name}${at}` }),
      ),
    );

const words = { kind: "fact", category: "preferences", trust: "user", importance: 3, metadata: {} } as const;

/** As it is told to somebody of whom `rows` are kept. */
function met(row: Row, rows: readonly Row[]): MetMemory {
  const { id, key, text, seenCount, validFrom, rank, confidence } = row;
  const said = { text, value: text, validFrom, rank, confidence, turn: 1 };
  const told = { ...words, ...said, key: key ?? undefined, now: today, correction: false, contentHash: text };
  return { id, seenCount, thresholds, told: told as unknown as MetMemory["told"], known: known(row, rows) };
}

function known({ key, text, validFrom }: Row, rows: readonly Row[]): KnownMemory[] {
  const as = (relation: KnownMemory["relation"], row: Row | undefined, similarity = 1) =>
    row
      ? [
          {
            ...words,
            ...row,
            relation,
            similarity,
            ref: 0,
            turn: 1,
            value: row.text,
            keyed: row.key !== null,
          },
        ]
      : [];
  const ofSlot = rows.filter((row) => key !== null && row.key === key);
  const closed = ofSlot
    .filter(({ state }) => state === "superseded")
    .toSorted((one, other) => one.validFrom.getTime() - other.validFrom.getTime());
  const active = rows.filter(({ state }) => state === "active");
  const near = active.filter((row) => row.text !== text && topicOf(row.text) === topicOf(text));
  return [
    ...as(
      "after",
      closed.find((row) => row.validFrom > validFrom),
    ),
    ...as(
      "before",
      closed.findLast((row) => row.validFrom <= validFrom),
    ),
    ...near.flatMap((row) => as("near", row, 0.97)),
    ...as(
      "same",
      active.find((row) => row.text === text),
    ),
    ...as(
      "slot",
      ofSlot.find(({ state }) => state === "active"),
    ),
  ] as unknown as KnownMemory[];
}

const activeOf = (rows: readonly Row[]) => rows.filter(({ state }) => state === "active");

const plan = (from: readonly Row[], to: readonly Row[]) =>
  planMerge(activeOf(from).map((row) => met(row, to)));

/** What is kept of both afterwards. */
function applied({ leaving, staying, moves, splits }: MergePlan, both: readonly Row[]): Row[] {
  const rows = new Map(both.map((row) => [row.id, row]));
  const change = (id: string, by: (row: Row) => Partial<Row>) => {
    const row = rows.get(id) as Row;
    rows.set(id, { ...row, ...by(row) });
  };
  for (const { id, state, supersededBy, validTo } of [...leaving, ...staying]) {
    change(id, ({ validFrom }) => ({
      ...{ state, supersededBy },
      validTo: validTo && validTo < validFrom ? validFrom : validTo,
    }));
  }
  for (const { id, validFrom, validTo } of moves) {
    change(id, (row) => ({ validFrom: validFrom ?? row.validFrom, validTo: validTo ?? row.validTo }));
  }
  for (const { id, until, from, supersededBy } of splits) {
    const whole = rows.get(id) as Row;
    const copy = { id: `${id} before`, state: "superseded" as const, supersededBy, validTo: until };
    rows.set(copy.id, { ...whole, ...copy });
    change(id, () => ({ validFrom: from }));
  }
  return [...rows.values()];
}

const merged = (from: readonly Row[], to: readonly Row[]) => applied(plan(from, to), [...to, ...from]);
const heldBy = (rows: readonly Row[]) =>
  activeOf(rows)
    .map(({ key, text }) => JSON.stringify([key, text]))
    .sort();

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);
const rowOf = (rows: readonly Row[], id: string) => rows.find((row) => row.id === id) as Row;

/** The one that it has become, by however many steps. */
function lastOf(rows: readonly Row[], id: string, steps = 0): Row {
  expect(steps).toBeLessThan(rows.length);
  const row = rowOf(rows, id);
  if (row.state === "active" || row.supersededBy === null) return row;
  return lastOf(rows, row.supersededBy, steps + 1);
}

const runs = { numRuns: 500 };

describe("what becomes of two people's memories", () => {
  it("leaves each slot with one value, and none empty that was filled", () => {
    fc.assert(
      fc.property(person("from"), person("to"), (from, to) => {
        const held = activeOf(merged(from, to)).flatMap(({ key }) => key ?? []);
        expect(held).toEqual([...new Set(held)]);
        const before = activeOf(to).flatMap(({ key }) => key ?? []);
        expect(held).toEqual(expect.arrayContaining(before));
      }),
      runs,
    );
  });

  it("keeps what gives way, once, and leads from it to what says the same or has its slot", () => {
    fc.assert(
      fc.property(person("from"), person("to"), (from, to) => {
        const { leaving, staying, again } = plan(from, to);
        const gone = [...leaving, ...staying];
        const [had, has] = [idsOf(activeOf(from)), idsOf(activeOf(to))];
        expect(had).toEqual(expect.arrayContaining(idsOf(leaving)));
        expect(has).toEqual(expect.arrayContaining(idsOf(staying)));
        expect(idsOf(gone)).toEqual([...new Set(idsOf(gone))]);
        const both = merged(from, to);
        expect(idsOf(both)).toEqual(expect.arrayContaining(idsOf([...from, ...to])));
        for (const { id, state, supersededBy } of gone) {
          const [row, winner] = [rowOf(both, id), rowOf(both, supersededBy)];
          if (state === "superseded") expect(winner.key).toBe(row.key);
          else expect(topicOf(winner.text)).toBe(topicOf(row.text));
        }
        expect(again).toHaveLength(gone.filter(({ state }) => state === "merged").length);
      }),
      runs,
    );
  });

  it("closes for good only what another value has the slot of", () => {
    fc.assert(
      fc.property(person("from"), person("to"), (from, to) => {
        const both = merged(from, to);
        const said = activeOf(both).map(({ text }) => topicOf(text));
        for (const { id, key, text } of activeOf([...from, ...to])) {
          const last = lastOf(both, id);
          if (key === null) expect(said).toContain(topicOf(text));
          else expect([last.state === "active", last.key]).toContain(last.state === "active" || key);
        }
      }),
      runs,
    );
  });

  it("does not depend on the order in which they are read", () => {
    const read = fc.tuple(person("from"), person("to")).chain(([from, to]) =>
      fc.tuple(
        fc.constant(from),
        fc.constant(to),
        fc.shuffledSubarray(from, {
          minLength: from.length,
        }),
      ),
    );
    fc.assert(
      fc.property(read, ([from, to, shuffled]) => {
        expect(plan(shuffled, to)).toEqual(plan(from, to));
      }),
      runs,
    );
  });

  it("is what it is when the same is merged once more", () => {
    fc.assert(
      fc.property(person("from"), person("to"), (from, to) => {
        const once = merged(from, to);
        const copy = from.map((row) => ({ ...row, id: `${row.id} again` }));
        expect(heldBy(merged(copy, once))).toEqual(heldBy(once));
        expect(planMerge([])).toEqual({ leaving: [], staying: [], again: [], moves: [], splits: [] });
      }),
      runs,
    );
  });
});
