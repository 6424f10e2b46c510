/**
 * How alike questions and memories are, by their vectors, that have nothing to do with each other: mean and standard
 * deviation of their cosine similarities. Each embedding space has its own.
 */
export interface UnrelatedSimilarity {
  readonly mean: number;
  readonly spread: number;
}

/** Of a space that could not be measured: from 0.1 on a similarity says something. */
export const assumedUnrelated: UnrelatedSimilarity = { mean: 0, spread: 0 };

/** From where on similarities say anything, and from where on a memory is found by its vector alone. */
export interface SimilarityScale {
  /** Not below 0. */
  readonly from: number;
  readonly floor: number;
}

/**
 * The floor lies three deviations above what is unrelated: of a thousand unrelated memories one gets there. But at
 * least a tenth of the way up to 1, as a few probes cannot know each text, and at most half of it, which related texts
 * pass in spaces that tell little apart.
 */
const floorAt = { deviations: 3, least: 0.1, most: 0.5 } as const;

/** Similarity that no two unrelated texts have: a space where they seem to is not measured rightly. */
const surelyRelated = 0.95;

/** The scale of a space. */
export function similarityScale({ mean, spread }: UnrelatedSimilarity): SimilarityScale {
  const from = Math.min(Math.max(mean, 0), surelyRelated);
  const above = floorAt.deviations * spread;
  const [least, most] = [floorAt.least * (1 - from), floorAt.most * (1 - from)];
  return { from, floor: from + Math.min(Math.max(above, least), most) };
}

/**
 * `scale` for a question whose similarity to each of many memories is known: when even the least of them, `least`, is
 * above the floor, the space's probes did not know such texts, and what is unrelated to this question lies there.
 */
export function raisedScale(scale: SimilarityScale, least: number | null): SimilarityScale {
  return least === null || least < scale.floor ? scale : similarityScale({ mean: least, spread: 0 });
}

/** 0 (as unrelated texts are, or no vector) to 1 (the same): what a similarity says, whatever model it is of. */
export function nearness(similarity: number | null, { from }: SimilarityScale): number {
  return similarity === null ? 0 : Math.min(1, Math.max(0, (similarity - from) / (1 - from)));
}

/**
 * How alike the vectors of `questions` and of `statements` are; null when that says nothing of texts that are
 * unrelated: too few, of different lengths, without direction, or all the same.
 */
export function measureUnrelated(
  questions: readonly (readonly number[])[],
  statements: readonly (readonly number[])[],
): UnrelatedSimilarity | null {
  const similarities = questions.flatMap((question) =>
    statements.map((statement) => cosine(question, statement)),
  );
  const count = similarities.length;
  const mean = similarities.reduce((sum, value) => sum + value, 0) / count;
  const spread = Math.sqrt(similarities.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count);
  return Number.isFinite(spread) && mean < surelyRelated ? { mean, spread } : null;
}

/** NaN for vectors that cannot be compared. */
function cosine(first: readonly number[], second: readonly number[]): number {
  if (first.length !== second.length) return Number.NaN;
  const product = first.reduce((sum, value, index) => sum + value * (second[index] as number), 0);
  return product / (Math.hypot(...first) * Math.hypot(...second));
}
