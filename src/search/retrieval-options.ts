import { z } from "zod";
import { callback } from "../input/parse-input.js";
import type { CategoryPolicy } from "../memories/item/category.rule.js";
import type { Runtime } from "../runtime.js";
import { timeZoneField } from "../text/time-zone.js";

/**
 * All constants of the ranking. Scores are shares of the upper bound, so they compare between
 * questions. A gain is the loss without the constant, in points of evidence recall at 10, the mean
 * of LoCoMo, REALTALK and BEAM, measured with this formula in another program. `npm run
 * bench:retrieval` measures the whole.
 */
export const retrievalWeights = {
  /**
   * BM25's saturation and length norm: the customary values. A weaker norm favours long answers.
   * Gain 1.3.
   */
  k1: 1.2,
  b: 0.75,
  /**
   * Longer messages than so many average ones count as such: what is in a pasted page is found among
   * short messages. Gain 0: it is for a floor, not for an order.
   */
  longest: 8,
  /** Most terms of a long question that an answer contains: the others are its story. */
  expectedTerms: 6,
  /** Frequency of a word that is only a part of an identifier, and its share of a whole word's idf. */
  part: 0.5,
  /**
   * What stands beside the sentences that ask weighs at most so many times what they do, or what
   * the rarest `expectedTerms` do. More lets chit-chat win, less loses what names the subject.
   * Chit-chat of a hundred words costs 3 points of evidence recall at 10, without it 29.
   */
  aside: 1.5,
  /**
   * Term smoothing across adjacent messages between people: halved with each further message. Gain
   * 6.1.
   */
  neighbour: 0.4,
  /** Weight of an assistant's message, relative to a person's. Gain 3.4. */
  assistant: 0.5,
  /**
   * A reply counts for the message that it answers: the better of the two in full, so much of the
   * other. Gain 4 on BEAM, and 6 on the sessions of RealMem.
   */
  exchange: 0.25,
  /** Weight of a memory's best source message. Gain 5.9, on LoCoMo's observations. */
  source: 0.8,
  /** Boost of a named speaker's own messages and memories. Gain 3.7. */
  speaker: 1,
  /** Boost on a day that the question names; half of it two days later. Gain 1.1. */
  date: 0.3,
  /** Boost for a rare identifier of the question: with its words, more than any vector. */
  identifier: 1.2,
  /**
   * Boost of a vector, for each deviation of unrelated texts in its space: the more a model tells
   * texts apart, the more it counts. An equal text gets 0.6 with 12 of them.
   */
  vector: 0.05,
  /** Importance 5 over 1, today over long ago, the strongest link to another hit. */
  importance: 0.05,
  recency: 0.05,
  relation: 0.02,
  /**
   * Factor for insights: they rank after stated facts that fit, and before those that hardly do.
   */
  insight: 0.5,
} as const;

export const recencyHalfLifeDays = 30;

/**
 * Without a threshold. `best`: least fit of the best hit. `each`: of the others. `noise`: beside
 * a better hit, a lower score is noise. Where vectors say how alike a memory is, words have to say
 * more. Questions about other people stay without memories by words in 56 of 100 cases (LoCoMo) and
 * 39 (REALTALK), with vectors in 80 and 62; higher floors cost recall. A message stands for less than
 * a memory.
 */
export const floors = {
  byWords: { best: 0.27, each: 0.1, noise: 0.25 },
  besideVector: { best: 0.4, each: 0.27, noise: 0.5 },
  messages: { best: 0.1, each: 0.05 },
} as const;

export const recallModeSchema = z.enum(["active", "passive"]);

/** "active" shows memories to a turn; "passive" only stores new ones. */
export type RecallMode = z.output<typeof recallModeSchema>;

/**
 * A score for each text: the higher, the better it answers `question`. `signal` is aborted at the
 * deadline.
 */
export type Reranker = (
  question: string,
  texts: string[],
  options: { readonly signal: AbortSignal },
) => Promise<ArrayLike<number>>;

const rerankOptionsSchema = z.strictObject({
  /** Scores what was found. It never finds more or less. */
  with: callback<Reranker>(),
  /** Milliseconds. After them, and when it fails, the order stays as it was. @default 300 */
  timeoutMs: z.int().min(1).default(300),
  /** How many of the best hits it scores. @default 20 */
  limit: z.int().min(1).default(20),
});

export const retrievalOptionsSchema = z.strictObject({
  /**
   * A text search configuration of PostgreSQL, for words whose script does not say their language;
   * "simple" for languages without one. Set it before the first setup if users write neither
   * English nor in another script.
   * @default "english"
   */
  language: z.string().min(1).default("english"),
  /**
   * Time zone of users whose runs and calls name none, as "Europe/Lisbon": questions name its days,
   * and messages are dated by it.
   * @default "UTC"
   */
  timeZone: timeZoneField.default("UTC"),
  /**
   * Least similarity of memories shown unasked. Raise it if they fit too little.
   * @default by evidence: see docs/recall.md#when-nothing-fits
   */
  threshold: z.number().min(0).max(1).optional(),
  /** Most hits shown unasked. Raise it for models with long windows. @default 8 */
  topK: z.int().min(1).default(8),
  /**
   * Greatest cosine distance of episodes without the question's words. Lower it if they fit too
   * little.
   * @default by the embedding model: see docs/recall-by-meaning.md#how-near-is-near
   */
  maxEpisodeDistance: z.number().min(0).max(2).optional(),
  /**
   * Tokens of memory shown unasked, with headings (some 110), without the conversation's summary.
   * Lower it to make turns cheaper.
   * @default 1_500
   */
  budgetTokens: z.int().min(50).max(1_000_000).default(1_500),
  /**
   * Tokens of important memories that neither fit the question nor are always shown. Raise it for
   * models that do not ask `memory.query` for what was left out.
   * @default 300
   */
  fallbackTokens: z.int().min(0).default(300),
  /**
   * Orders the best hits by a model of yours: see docs/recall-by-meaning.md#a-reranker-of-your-own.
   * @default none
   */
  rerank: rerankOptionsSchema.optional(),
});

export const retrievalConstants = {
  /**
   * Least importance of slots of "rag" categories that are always shown: the middle of the scale.
   */
  minSlotImportance: 2.5,
  topEpisodes: 3,
  /** Recall continues without an embedding after this wait. */
  embedTimeoutMs: 2_000,
  /** Longest search of a recall: users notice a second. The embedded database ignores it. */
  timeoutMs: 2_000,
};

export type RetrievalOptions = z.output<typeof retrievalOptionsSchema> &
  Readonly<typeof retrievalConstants>;

export type SearchRuntime = Runtime<{
  readonly retrieval: RetrievalOptions;
  readonly policy: CategoryPolicy;
  readonly receipts: { readonly idKey?: string | undefined };
}>;
