import { z } from "zod";
import type { CategoryPolicy } from "../memories/item/category.rule.js";
import type { Runtime } from "../runtime.js";

/** A score is a share of the question's upper bound: scores and weights compare between questions. */
export const retrievalWeights = {
  /** BM25's saturation and length norm (customary: 1.2 and 0.75). Chat wants less of both, being short. */
  message: { k1: 0.6, b: 0.3 },
  memory: { k1: 1.2, b: 0.3 },
  /** What a word counts for in the turns around its own: the answer says little of what was asked. */
  previousTurn: 0.4,
  nextTurn: 0.2,
  secondPreviousTurn: 0.2,
  secondNextTurn: 0.1,
  /** What a word of a fact counts for in the turns that it was learned from. */
  factWord: 0.5,
  answer: 0.2,
  /** What the score of the whole conversation adds to each of its turns, and to what was learned in it. */
  thread: 0.2,
  /** What a named speaker's own turns and memories gain. */
  speaker: 0.5,
  /** What a date named in the question adds to what was said or learned then. */
  date: 0.3,
  /** What a turn that says a time gains, when the question asks for one. */
  when: 0.1,
  /** What a turn that only asks loses, and one that says more than a few words gains. */
  question: 0.05,
  substance: 0.05,
  /** What the turns that a fact was learned from add to it. */
  source: 0.8,
  /** What a fact loses when better hits were learned from the same turns: they have mostly said it already. */
  repeated: 0.4,
  /** What an insight counts for, against what was said: it goes before what hardly fits, and after what does. */
  insight: 0.5,
  /** What the same vector adds against an unrelated one. */
  vector: 0.6,
  /** Small boosts of a memory: importance 5 against 1, said today against long ago, its strongest link, of which many have one. */
  importance: 0.05,
  recency: 0.05,
  relation: 0.02,
  /** A word that names a speaker, against others: it is also heard of who is meant by it (`speaker`). */
  name: 0.5,
  /** A misspelt word's reading, against a word as written. */
  correction: 0.8,
} as const;

/** Half-life of the recency boost, in days. */
export const recencyHalfLifeDays = 30;

/** Characters from which a turn says enough to get all of `substance`: two sentences. */
export const substanceCharacters = 150;

/**
 * Least evidence of the best hit, or there is no answer, and of each, where the caller names no threshold. 1 in 100
 * of LoCoMo's questions falls below `best`, and every second unrelated one. A higher `each` costs recall.
 */
export const defaultFloor = { best: 0.1, each: 0.05 } as const;

export const shownFloor = { best: 0.1, each: 0.1 } as const;

export const recallModeSchema = z.enum(["active", "passive"]);

/** Whether a turn is shown memories: "active", or "passive", which remembers alone. */
export type RecallMode = z.output<typeof recallModeSchema>;

export const retrievalOptionsSchema = z.strictObject({
  /**
   * A text search configuration of PostgreSQL; "simple" where there is none for the language. Set it before the first
   * setup where users do not write English.
   * @default "english"
   */
  language: z.string().min(1).default("english"),
  /**
   * Least similarity of what is shown unasked. Without it, a tenth of the question's words, or a vector that stands out
   * from what is unrelated in its space. Set it where what is shown fits too little.
   */
  threshold: z.number().min(0).max(1).optional(),
  /** Most hits shown unasked. Raise it for models with long windows. @default 8 */
  topK: z.int().min(1).default(8),
  /**
   * Episodes farther than this are not shown, nearer ones are, with embeddings. Cosine distance alone: raise it for models
   * whose vectors of a question and its answer are far apart.
   * @default 0.4
   */
  maxEpisodeDistance: z.number().min(0).max(2).default(0.4),
  /**
   * Tokens of memory shown unasked, headings and all, the conversation's summary apart: headings take some 110 of them.
   * What is left of them is filled with what else is known, most important first. Lower it to make turns cheaper.
   * @default 1_500
   */
  budgetTokens: z.int().min(50).default(1_500),
});

/** How memories are found. */
export interface RetrievalConfig extends z.input<typeof retrievalOptionsSchema> {}

/** Constants, not settings. */
export const retrievalConstants = {
  /** Least importance of slots of "rag" categories that are always shown: the middle of the scale. */
  minSlotImportance: 2.5,
  topEpisodes: 3,
  /** Longest wait for a question's embedding; recall goes on without it. */
  embedTimeoutMs: 2_000,
  /** Longest search of a recall: users notice a second. Does not hold on the embedded database. */
  timeoutMs: 2_000,
};

/** How memories are found. */
export type RetrievalOptions = z.output<typeof retrievalOptionsSchema> & Readonly<typeof retrievalConstants>;

export type SearchRuntime = Runtime<{
  readonly retrieval: RetrievalOptions;
  readonly policy: CategoryPolicy;
}>;
