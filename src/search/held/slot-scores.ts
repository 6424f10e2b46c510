import { retrievalWeights as weights } from "../retrieval-options.js";
import { idealOf, type WeightedTerm } from "../word-weights.rule.js";
import { type BestSlots, bestSlots, type RankedSlot } from "./best-slots.rule.js";
import type { HeldMemoryIndex } from "./held-memories.js";

/** Which slots are looked at. */
export interface SlotChoice {
  /** The best of them. */
  readonly most: number;
  /** @default all that have a memory */
  readonly isWanted?: ((owner: number, slot: number) => boolean) | undefined;
}

/** Sums by slot, and which slots have one. All searches share them: each leaves them as it found them, and none interrupts another. */
const scratch = { sums: new Float64Array(0), touched: new Uint32Array(0) };

/**
 * The memories whose words fit best, of equals those with the lesser ref: BM25 as `memoryScores` reckons it, in single precision.
 *
 * @param terms as they weigh among the memories of each owner.
 */
export function bestByWords(
  owners: readonly HeldMemoryIndex[],
  terms: readonly WeightedTerm[],
  choice: SlotChoice,
): BestSlots {
  const best = bestSlots(choice.most);
  const ideal = idealOf(terms);
  for (const [owner, index] of owners.entries()) {
    const own = terms.filter((term) => term.owner === owner);
    const { refs } = index.columns;
    scoreWords(index, own, (slot, sum) => {
      offerTo(best, Math.fround(sum / ideal), owner, slot, refs, choice);
    });
  }
  return best;
}

/** Calls `each` with every slot that has any of `terms`, and what its words sum up to. */
function scoreWords(
  { words, columns, slots }: HeldMemoryIndex,
  terms: readonly WeightedTerm[],
  each: (slot: number, sum: number) => void,
): void {
  if (scratch.sums.length < slots) {
    scratch.sums = new Float64Array(slots);
    scratch.touched = new Uint32Array(slots);
  }
  const { sums, touched } = scratch;
  const { lengths } = columns;
  const { k1, b } = weights.memory;
  const base = k1 * (1 - b);
  let count = 0;
  for (const { lexeme, gain, average } of terms) {
    const slope = (k1 * b) / average;
    for (const pair of words.textsWith(lexeme)) {
      const slot = pair >>> 8;
      const frequency = pair & 255;
      const sum = sums[slot] as number;
      if (sum === 0) touched[count++] = slot;
      sums[slot] = sum + (gain * frequency) / (frequency + base + slope * (lengths[slot] as number));
    }
  }
  for (let at = 0; at < count; at++) {
    const slot = touched[at] as number;
    each(slot, sums[slot] as number);
    sums[slot] = 0;
  }
}

/** How alike a question and the memory of each slot are, by owner: null for an owner without vectors. */
export type Similarities = readonly (Float32Array | null)[];

/** What the vectors of owners say of a question, as they were when it was looked. */
export interface Nearness {
  readonly similarities: Similarities;
  /** The memories that are nearest, in no order. */
  readonly nearest: readonly RankedSlot[];
}

/** How near `question` is to the memories of `owners`, and the `most` of them that are nearest. */
export function nearnessTo(owners: readonly HeldMemoryIndex[], question: Buffer, most: number): Nearness {
  const similarities = similaritiesTo(owners, question);
  return { similarities, nearest: nearestSlots(owners, similarities, { most }).top() };
}

/** The inner products of all vectors with the question's. */
export function similaritiesTo(owners: readonly HeldMemoryIndex[], question: Buffer): Similarities {
  return owners.map(({ vectors }) => vectors?.products(question) ?? null);
}

/** Of a slot. Rounding puts some products above 1. */
export function similarityAt(
  similarities: Similarities,
  { owner, slot }: Pick<RankedSlot, "owner" | "slot">,
) {
  const products = similarities[owner];
  return products ? Math.min(1, products[slot] ?? 0) : null;
}

/** The memories whose vectors are nearest, of equals those with the lesser ref. */
export function nearestSlots(
  owners: readonly HeldMemoryIndex[],
  similarities: Similarities,
  choice: SlotChoice,
): BestSlots {
  const best = bestSlots(choice.most);
  for (const [owner, { columns, slots }] of owners.entries()) {
    const products = similarities[owner];
    if (!products) continue;
    const { refs } = columns;
    for (let slot = 0; slot < slots; slot++) {
      const product = products[slot] as number;
      if (product < best.least || refs[slot] === 0) continue;
      offerTo(best, Math.min(1, product), owner, slot, refs, choice);
    }
  }
  return best;
}

function offerTo(
  best: BestSlots,
  value: number,
  owner: number,
  slot: number,
  refs: Float64Array,
  { isWanted }: SlotChoice,
): void {
  if (value < best.least || (isWanted && !isWanted(owner, slot))) return;
  const ref = refs[slot] as number;
  best.offer(value, ref, owner, slot, ref);
}
