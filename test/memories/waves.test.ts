import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryDraft } from "../../src/memories/item/memory.js";
import { type PreparedMemory, prepareMemory } from "../../src/memories/write/prepare-memory.js";
import type { Statement } from "../../src/memories/write/statement.js";
import { inWaves } from "../../src/memories/write/waves.js";
import { resolveConfig } from "../../src/options.js";
import { processorMs } from "../support/timing.js";

const config = resolveConfig(undefined);

function statementsOf(drafts: readonly MemoryDraft[]): Statement[] {
  return drafts.map((draft, index) => ({
    memory: prepareMemory(draft, { userId: "ana" }, { ...config, language: "english" }) as PreparedMemory,
    vector: null,
    said: [{ draft: index, turnsAgo: 0, source: undefined }],
  }));
}

const slotOf = ({ key }: PreparedMemory) => key ?? null;
const clash = ({ memory: first }: Statement, { memory: second }: Statement) =>
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
    inWaves(statementsOf(drafts.map((draft) => ({ category: "preferences", ...draft }))));

  it("are each in one, with those that say the same", () => {
    fc.assert(
      fc.property(someDrafts, (drafts) => {
        const statements = wavesOf(drafts).flat();
        const places = statements.flatMap(({ said }) => said.map(({ draft }) => draft));
        expect(places.toSorted((a, b) => a - b)).toEqual(drafts.map((_, place) => place));
        const given = statementsOf(drafts.map((draft) => ({ category: "preferences", ...draft })));
        const words = (memory: PreparedMemory | undefined) => memory && [memory.contentHash, slotOf(memory)];
        for (const { memory, said } of statements) {
          expect(said.map(({ draft }) => words(given[draft]?.memory))).toEqual(said.map(() => words(memory)));
        }
      }),
    );
  });

  it("meet nothing of their own wave, come after what they meet, and wait for nothing else", () => {
    fc.assert(
      fc.property(someDrafts, (drafts) => {
        const placed = wavesOf(drafts).flatMap((wave, at) =>
          wave.map((statement) => ({ statement, place: statement.said[0].draft, at })),
        );
        for (const { statement, place, at } of placed) {
          const met = placed.filter((other) => other.place < place && clash(other.statement, statement));
          expect(at).toBe(Math.max(-1, ...met.map((other) => other.at)) + 1);
        }
      }),
    );
  });

  it("take a moment for tens of thousands, unlike or of one slot", () => {
    const numbered = (draft: MemoryDraft) => {
      const [one] = statementsOf([draft]) as [Statement];
      return Array.from({ length: 20_000 }, (_, place): Statement => {
        const memory = { ...one.memory, contentHash: String(place) };
        return { ...one, memory, said: [{ draft: place, turnsAgo: 0, source: undefined }] };
      });
    };
    const unlike = numbered({ text: "Uses a tool." });
    const oneSlot = numbered({ category: "preferences", key: "editor", text: "Uses a tool." });
    const taken = processorMs(() => {
      expect(inWaves(unlike)).toHaveLength(1);
      expect(inWaves(oneSlot)).toHaveLength(oneSlot.length);
    }, 5_000);
    // Comparing each with all takes ten times as long.
    expect(taken).toBeLessThan(5_000);
  });
});
