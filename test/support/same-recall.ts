import { expect } from "vitest";
import type { Recalled } from "../../src/index.js";

/** Numbers that differ by less are the same: sums in another order, products of rounded vectors. */
const noise = 1e-6;

/**
 * Throws unless two recalls of the same question at the same time gave the same: the conversation, changes, consents, and
 * the memories in their order, with their scores. Hits whose scores are the same may have changed places.
 */
export function expectSame(held: Recalled, cold: Recalled): void {
  const [one, other] = [plain(held), plain(cold)];
  const parts = ["relevant", "episodes"] as const;
  for (const part of parts) {
    const scores = [one, other].map(({ memories }) => memories[part].map(({ score }) => score));
    expect(scores[0]).toHaveLength(scores[1]?.length ?? 0);
    for (const [index, score] of (scores[0] as number[]).entries())
      expect(Math.abs(score - (scores[1]?.[index] as number)), `score ${index} of ${part}`).toBeLessThan(
        noise,
      );
  }
  const ids = [one, other].map(({ memories }) =>
    parts.flatMap((part) => memories[part].map(({ memory }) => memory.id)),
  );
  // Of several that count the same, others may be the last that are shown, and have other links.
  if (JSON.stringify(ids[0]) === JSON.stringify(ids[1])) expect(one).toEqual(nearly(other));
  else expect({ ...one, memories: null }).toEqual({ ...other, memories: null });
}

/** As JSON has it, without when memories were last shown: that is noted without a change of the memory. */
function plain(recalled: Recalled): Recalled {
  return JSON.parse(JSON.stringify(recalled, (key, value) => (key === "lastAccessedAt" ? undefined : value)));
}

/** `recalled` with numbers of memories that need to be met only so closely. */
function nearly({ memories, ...rest }: Recalled) {
  const walk = (value: unknown): unknown => {
    if (typeof value === "number") return expect.closeTo(value, 5);
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, walk(each)]));
  };
  return { ...rest, memories: walk(memories) };
}
