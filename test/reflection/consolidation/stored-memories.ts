import fc from "fast-check";
import type { StoredMemory } from "../../../src/reflection/consolidation/choose-pairs.rule.js";
import { memoryItem } from "../../support/memory-item.js";

export const day = (n: number) => new Date(Date.UTC(2026, 0, 1 + n));

/** A stored memory with defaults for what a test does not say. */
export function stored(fields: Partial<StoredMemory> & { readonly ref: number }): StoredMemory {
  const { ref } = fields;
  return {
    ...memoryItem(day(0), { confidence: 0.9, text: `The user said ${ref}.` }),
    id: `00000000-0000-4000-8000-${String(ref).padStart(12, "0")}`,
    rank: 3,
    turn: 0,
    assertedAt: fields.validFrom ?? day(0),
    timeZone: null,
    ...fields,
  };
}

const texts = [
  "The user likes hiking in the Alps.",
  "The user enjoys hikes in the Alps.",
  "The user has 2 cats.",
  "The user has two cats.",
  "The user has 3 cats.",
  "The user never hikes.",
  "The user plays chess with Anna.",
  "The user also plays chess.",
  "The gate opens on Monday.",
];

/** Memories of one owner that differ in all that keeps two apart. */
export const memories = (most: number) =>
  fc
    .array(
      fc.record({
        text: fc.constantFrom(...texts),
        kind: fc.constantFrom(
          "fact" as const,
          "insight" as const,
          "episode" as const,
          "note" as const,
        ),
        state: fc.constantFrom("active" as const, "active" as const, "superseded" as const),
        appId: fc.constantFrom(undefined, "mail", "maps"),
        category: fc.constantFrom("knowledge", "preferences"),
        key: fc.constantFrom(null, null, "hobby", "main_hobby", "pet"),
        actorId: fc.constantFrom(null, null, "Ana", "Bo"),
        rank: fc.constantFrom(1, 2, 3),
        pinned: fc.boolean(),
        from: fc.integer({ min: 0, max: 5 }),
        said: fc.integer({ min: 0, max: 5 }),
        changed: fc.integer({ min: 0, max: 20 }),
        confidence: fc.double({ min: 0.1, max: 1, noNaN: true }),
        seenCount: fc.integer({ min: 1, max: 4 }),
      }),
      { minLength: 2, maxLength: most },
    )
    .map((rows) =>
      rows.map(({ appId, from, said, changed, ...row }, ref) =>
        stored({
          ...row,
          ref: ref + 1,
          scope: { userId: "ana", ...(appId && { appId }) },
          validFrom: day(from),
          assertedAt: day(from + said),
          updatedAt: day(changed),
        }),
      ),
    );
