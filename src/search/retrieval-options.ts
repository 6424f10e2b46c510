import { z } from "zod";
import type { CategoryPolicy } from "../memories/item/category.rule.js";
import type { Runtime } from "../runtime.js";
import { timeZoneField } from "./time-span.rule.js";

/**
 * All constants of the ranking. A score is a share of the best possible one, so scores compare between questions. A gain
 * is what the ranking loses without it, in points of evidence recall at 10, the mean of LoCoMo (people's chats), REALTALK
 * (real chats) and BEAM (a user with an assistant), measured with this formula in another program.
 * `npm run bench:retrieval` measures the whole.
 */
export const retrievalWeights = {
  /** BM25's saturation and length norm: the customary values. Long answers win where the norm is weaker. Gain 1.3. */
  k1: 1.2,
  b: 0.75,
  /** A long question tells a story and asks one thing: no answer has more of its terms. */
  expectedTerms: 6,
  /** Weight of a message's term in the next and the previous one, halved with each further one, among people. Gain 6.1. */
  neighbour: 0.4,
  /** What an assistant's message counts, of one by a person. Gain 3.4. */
  assistant: 0.5,
  /** What the fit of the best message that a memory was learned from adds to it. Gain 5.9, on LoCoMo's observations. */
  source: 0.8,
  /** What a named speaker's own messages and memories gain. Gain 3.7. */
  speaker: 1,
  /** What a day that the question names adds to what was said or became true on it; half of it two days off. Gain 1.1. */
  date: 0.3,
  /** What an identifier of the question adds that few memories have: with its own words more than any vector. */
  identifier: 0.6,
  /** What the same vector adds against an unrelated one. */
  vector: 0.6,
  /** Small boosts: importance 5 against 1, said today against long ago, the strongest link to another hit. */
  importance: 0.05,
  recency: 0.05,
  relation: 0.02,
  /** What an insight counts, of what was said: it ranks before what hardly fits, and after what does. */
  insight: 0.5,
} as const;

export const recencyHalfLifeDays = 30;

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
   * setup where users do not write English. @default "english"
   */
  language: z.string().min(1).default("english"),
  /** Of the days that a question names, where neither it nor its run says another, as "Europe/Lisbon". @default "UTC" */
  timeZone: timeZoneField.default("UTC"),
  /**
   * Least similarity of what is shown unasked. Without it, a tenth of the question's words, or a vector that stands out
   * from what is unrelated in its space. Set it where what is shown fits too little.
   */
  threshold: z.number().min(0).max(1).optional(),
  /** Most hits shown unasked. Raise it for models with long windows. @default 8 */
  topK: z.int().min(1).default(8),
  /**
   * Episodes nearer than this are shown, with embeddings; farther ones where the question has their words. A cosine
   * distance: raise it for models whose vectors of a question and its answer are far apart. @default 0.4
   */
  maxEpisodeDistance: z.number().min(0).max(2).default(0.4),
  /**
   * Tokens of memory shown unasked, headings (some 110) included, the conversation's summary not. What is left is filled
   * with what else is known, most important first. Lower it to make turns cheaper. @default 1_500
   */
  budgetTokens: z.int().min(50).default(1_500),
});

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

export type RetrievalOptions = z.output<typeof retrievalOptionsSchema> & Readonly<typeof retrievalConstants>;

export type SearchRuntime = Runtime<{
  readonly retrieval: RetrievalOptions;
  readonly policy: CategoryPolicy;
}>;
