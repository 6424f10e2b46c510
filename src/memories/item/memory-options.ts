import { z } from "zod";

export const memoryOptionsSchema = z.strictObject({
  /** Whether facts are extracted from what users say. Needs a model. Off where your code alone writes them. @default true */
  extract: z.boolean().default(true),
  /** Whether older turns become episodes. Needs a model. Off where conversations are short. @default true */
  episodes: z.boolean().default(true),
  /** Turns of a thread after which all but the latest half become an episode. Raise it for longer episodes. @default 20 */
  episodeEveryTurns: z.int().min(2).default(20),
  /** Most facts extracted for one owner in a day. Ten full turns: raise it for agents that are told much. @default 30 */
  writesPerDay: z.int().min(1).default(30),
  /** Similarity from which a model is asked whether two are the same. Lower it where the same is stored twice. @default 0.75 */
  askSimilarity: z.number().min(0).max(1).default(0.75),
});

/** Which memories are made and kept, and when two are the same. */
export interface MemoriesConfig extends z.input<typeof memoryOptionsSchema> {}

export const memoryConstants = {
  /** User messages of a thread after which facts are extracted, at most ten in one call. */
  extractAfterMessages: 1,
  /** After this silence fewer than `extractAfterMessages` are enough: the user has gone. */
  extractIdleMs: 300_000,
  /** Facts below this confidence are not kept: below, guesses outnumber facts. */
  minConfidence: 0.4,
  /** Facts below this importance are not kept. It is the lowest there is. */
  minImportance: 1,
  /** Most facts of one message: more is a model that splits hairs. */
  candidatesPerTurn: 5,
  /** Most facts written after one user message: bounds cost, and what one poisoned message can do. */
  writesPerTurn: 3,
  /** The same for what `consent` names, halfway to certainty: a pending value must not pass for another. */
  contextAskSimilarity: 0.875,
  /** Similarity from which memories are linked: well above unrelated sentences of common models. */
  linkSimilarity: 0.6,
  /** Most links made for a memory whose text is new. */
  links: 3,
  /** The share of `episodeEveryTurns` that stays out of episodes: the summary and the messages still hold them. */
  episodeKeepShare: 0.5,
};

export type MemoryOptions = z.output<typeof memoryOptionsSchema> & Readonly<typeof memoryConstants>;
