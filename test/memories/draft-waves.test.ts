import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryDraft } from "../../src/memories/item/memory.js";
import { draftWaves, type OwnerDraft } from "../../src/memories/write/draft-waves.js";
import { type PreparedMemory, prepareMemory } from "../../src/memories/write/prepare-memory.js";
import { resolveConfig } from "../../src/options.js";
import { processorMs } from "../support/timing.js";

const config = resolveConfig(undefined);

function ownerDrafts(drafts: readonly MemoryDraft[]): OwnerDraft[] {
  return drafts.map((draft, index) => ({
    index,
    memory: prepareMemory(draft, { userId: "ana" }, { ...config, language: "english" }) as PreparedMemory,
    vector: null,
    sameAs: () => "different",
    turnsAgo: 0,
  }));
}

const slotOf = ({ key }: PreparedMemory) => key ?? null;
const clash = ({ memory: first }: OwnerDraft, { memory: second }: OwnerDraft) =>
  first.contentHash === second.contentHash || (slotOf(first) !== null && slotOf(first) === slotOf(second));

/** Few values and few slots, so that drafts meet. */
const someDrafts = fc.array(
  fc.record(
    {
      key: fc.constantFrom("editor", "shell", "city of work"),
      text: fc.nat(4).map((n) => `Uses tool number ${n}.`),
    },
    { requiredKeys: ["text"] },
  ),
  { maxLength: 30 },
);

describe("drafts in waves", () => {
  const wavesOf = (drafts: readonly MemoryDraft[]) =>
    draftWaves(ownerDrafts(drafts.map((draft) => ({ category: "preferences", ...draft }))));
  const firstOf = (doubles: readonly OwnerDraft[]) => doubles[0] as OwnerDraft;

  it("are each in one, with those that say the same", () => {
    fc.assert(
      fc.property(someDrafts, (drafts) => {
        const entries = wavesOf(drafts).flat();
        const indexes = entries.flat().map(({ index }) => index);
        expect(indexes.toSorted((a, b) => a - b)).toEqual(drafts.map((_, index) => index));
        const said = ({ memory }: OwnerDraft) => [memory.contentHash, slotOf(memory)];
        for (const doubles of entries) {
          expect(doubles.map(said)).toEqual(doubles.map(() => said(firstOf(doubles))));
        }
      }),
    );
  });

  it("meet nothing of their own wave, come after what they meet, and wait for nothing else", () => {
    fc.assert(
      fc.property(someDrafts, (drafts) => {
        const placed = wavesOf(drafts).flatMap((wave, at) =>
          wave.map((doubles) => ({ first: firstOf(doubles), at })),
        );
        for (const { first, at } of placed) {
          const met = placed.filter((other) => other.first.index < first.index && clash(other.first, first));
          expect(at).toBe(Math.max(-1, ...met.map((other) => other.at)) + 1);
        }
      }),
    );
  });

  it("take a moment for tens of thousands, unlike or of one slot", () => {
    const many = (draft: MemoryDraft) => {
      const [made] = ownerDrafts([draft]) as [OwnerDraft];
      // Preparing each of them would take longer than what is measured.
      const withHash = (n: number) => ({
        ...made,
        index: n,
        memory: { ...made.memory, contentHash: `${n}` },
      });
      return Array.from({ length: 20_000 }, (_, n) => withHash(n));
    };
    const unlike = many({ text: "Uses a tool." });
    const oneSlot = many({ text: "Uses a tool.", category: "preferences", key: "editor" });
    const taken = processorMs(() => {
      expect(draftWaves(unlike)).toHaveLength(1);
      expect(draftWaves(oneSlot)).toHaveLength(oneSlot.length);
    }, 5_000);
    // Comparing each with all takes ten times as long.
    expect(taken).toBeLessThan(5_000);
  });
});
