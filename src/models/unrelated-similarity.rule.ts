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

// With bge-small-en-v1.5 and 250 memories, the best memory exceeds it for 98 of 100 of LoCoMo's
// questions, and for 26 of 100 about other people. At least 0.1 of the way to 1, since the sample is
// small; at most 0.5, which related texts exceed in spaces with little contrast.
const floorAt = { deviations: 3.5, least: 0.1, most: 0.5 } as const;

/** Local models have 10 to 14. A space that was measured badly must not decide alone. */
const contrastAt = { assumed: 12, least: 6, most: 24 } as const;

/** No unrelated texts are as similar: such a measurement is wrong. */
const surelyRelated = 0.95;

/** @param unrelated null or undefined: not measured */
export function similarityScale(
  unrelated: UnrelatedSimilarity | null | undefined,
): SimilarityScale {
  const { mean, spread } = unrelated ?? assumedUnrelated;
  const from = Math.min(Math.max(mean, 0), surelyRelated);
  const above = floorAt.deviations * spread;
  const [least, most] = [floorAt.least * (1 - from), floorAt.most * (1 - from)];
  const { assumed, least: lowest, most: highest } = contrastAt;
  const contrast =
    spread === 0 ? assumed : Math.min(Math.max((1 - from) / spread, lowest), highest);
  return { from, floor: from + Math.min(Math.max(above, least), most), contrast };
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
