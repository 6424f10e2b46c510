/**
 * Every weight of retrieval, in one place.
 *
 * Scores of a signal are divided by the greatest one of the question, so weights are comparable: 1 is the
 * best lexical match. Values were set by hand from published ablations on LoCoMo (Maharana et al., ACL 2024)
 * before the benchmark of this project was run, then frozen; `npm run bench:locomo` reports what they give.
 */
export const retrievalWeights = {
  /** BM25's saturation and length norm. Short texts want less of both than the customary 1.2 and 0.75. */
  k1: 0.9,
  b: 0.4,
  /** What the turns around a turn add to it: the answer to a question says little of what was asked. */
  previousTurn: 0.5,
  nextTurn: 0.25,
  secondPreviousTurn: 0.2,
  secondNextTurn: 0.1,
  /** What the whole conversation's score adds to each of its turns. */
  thread: 0.2,
  /** What a named speaker's own turns and memories gain. */
  speaker: 0.4,
  /** What a date named in the question adds to what was said then. */
  date: 0.3,
  /** What a turn that only asks loses. */
  question: 0.1,
  /** What a fact's score adds to the turns it was learned from, and those to the fact. */
  fact: 0.5,
  source: 0.5,
  /** Cosine similarity, for memories with vectors. */
  vector: 0.5,
  /** Small boosts of a memory: importance 5 against 1, said today against long ago, its strongest link. */
  importance: 0.05,
  recency: 0.05,
  relation: 0.1,
  /** A misspelt word's reading, against a word as written. */
  correction: 0.6,
} as const;

/** Half-life of the recency boost, in days. */
export const recencyHalfLifeDays = 30;
