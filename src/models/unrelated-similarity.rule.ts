/**
 * Mean and standard deviation of the cosine similarities of unrelated texts in an embedding space.
 */
export interface UnrelatedSimilarity {
  readonly mean: number;
  readonly spread: number;
}

export const assumedUnrelated: UnrelatedSimilarity = { mean: 0, spread: 0 };

/**
 * `from`: similarities above it are evidence. `floor`: above it, a vector alone finds a memory.
 * `contrast`: deviations from unrelated to equal texts.
 */
export interface SimilarityScale {
  readonly from: number;
  readonly floor: number;
  readonly contrast: number;
}

/**
 * Deviations above unrelated texts, since models place unrelated texts at 0.05 to 0.7. `least` and
 * `most` bound them as a share of the way to equal texts: the sample is small, and a space may have
 * little contrast. `npm run bench:thresholds` counts what passes with three models, and
 * docs/measured.md has it.
 */
const levels = {
  /**
   * Memories found by their vector alone. With bge-small-en-v1.5, half a deviation less shows
   * memories for 5 to 10 more of 100 questions about other people, and half a deviation more begins
   * to cost recall (LoCoMo, REALTALK).
   */
  found: { deviations: 4, least: 0.1, most: 0.5 },
  /**
   * Episodes found by their vector alone: 3 in 4 or more of those that a question is about, and 1
   * in 15 others at most.
   */
  episode: { deviations: 3, least: 0.3, most: 0.5 },
  /** Statements about the same: 4 in 5 related pairs pass, and hardly an unrelated one. */
  linked: { deviations: 4.5, least: 0.3, most: 0.6 },
  /** Statements that a model compares: 98 of 100 pairs that say the same pass. */
  asked: { deviations: 6, least: 0.4, most: 0.75 },
} as const;

/** Where only words are compared: 70 of 100 statements that say the same share half of them. */
const minOfWords = 0.5;
/** Before the first question measured the space: that of related texts in common models. */
const minUnmeasured = 0.6;

/** Local models have 10 to 14. A space that was measured badly must not decide alone. */
const contrastAt = { assumed: 12, least: 6, most: 24 } as const;

/** No unrelated texts are as similar: such a measurement is wrong. */
const surelyRelated = 0.95;

const clamp = (value: number, least: number, most: number) =>
  Math.min(Math.max(value, least), most);

const startOf = (mean: number) => clamp(mean, 0, surelyRelated);

/** @param measured null or undefined: not measured */
export function similarityScale(measured: UnrelatedSimilarity | null | undefined): SimilarityScale {
  const unrelated = measured ?? assumedUnrelated;
  const { mean, spread } = unrelated;
  const from = startOf(mean);
  const { assumed, least: lowest, most: highest } = contrastAt;
  const contrast = spread === 0 ? assumed : clamp((1 - from) / spread, lowest, highest);
  return { from, floor: levelIn(unrelated, "found"), contrast };
}

function levelIn({ mean, spread }: UnrelatedSimilarity, level: keyof typeof levels): number {
  const from = startOf(mean);
  const { deviations, least, most } = levels[level];
  return from + (1 - from) * clamp((deviations * spread) / (1 - from), least, most);
}

/** The least similarity of `level` in a space; null compares words. */
export function minSimilarity(
  space: { readonly unrelated: UnrelatedSimilarity | null } | null,
  level: Exclude<keyof typeof levels, "found">,
): number {
  if (space === null) return minOfWords;
  return space.unrelated ? levelIn(space.unrelated, level) : minUnmeasured;
}

/** From 0 (unrelated, or no vector) to 1 (equal), comparable between models. */
export const nearness = (similarity: number | null, { from }: SimilarityScale): number =>
  similarity === null ? 0 : Math.min(1, Math.max(0, (similarity - from) / (1 - from)));

/** Null for unusable vectors: too few, of different lengths, zero, or all equal. */
export function measureUnrelated(
  questions: readonly (readonly number[])[],
  statements: readonly (readonly number[])[],
): UnrelatedSimilarity | null {
  const similarities = questions.flatMap((asked) =>
    statements.map((stated) => cosine(asked, stated)),
  );
  const count = similarities.length;
  const mean = similarities.reduce((sum, value) => sum + value, 0) / count;
  const spread = Math.sqrt(
    similarities.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count,
  );
  return Number.isFinite(spread) && mean < surelyRelated ? { mean, spread } : null;
}

function cosine(first: readonly number[], second: readonly number[]): number {
  if (first.length !== second.length) return Number.NaN;
  const product = first.reduce((sum, value, index) => sum + value * (second[index] as number), 0);
  return product / (Math.hypot(...first) * Math.hypot(...second));
}
