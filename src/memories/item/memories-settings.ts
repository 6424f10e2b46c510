import { z } from "zod";

export const memoriesSettingsSchema = z.strictObject({
  /**
   * Whether facts are extracted from what users say. Needs a model. Off where your code alone
   * writes them.
   * @default true
   */
  extract: z.boolean().default(true),
  /**
   * Whether older turns become episodes. Needs a model. Off where conversations are short.
   * @default true
   */
  episodes: z.boolean().default(true),
  /**
   * After this many turns of a thread, the older half becomes an episode. Raise it for longer
   * episodes.
   * @default 20
   */
  episodeEveryTurns: z.int().min(2).default(20),
  /**
   * Most facts extracted for one owner in a day, and most memories that tools add. Raise it for
   * agents that learn much.
   * @default 30
   */
  writesPerDay: z.int().min(1).default(30),
  /**
   * Cosine similarity from which a model compares two memories. Lower it if duplicates are stored.
   * @default by the embedding model: see docs/recall-by-meaning.md#how-near-is-near
   */
  askSimilarity: z.number().min(0).max(1).optional(),
});

export const memoryConstants = {
  /** User messages of a thread after which facts are extracted, at most ten in one call. */
  extractAfterMessages: 1,
  /** After this silence, fewer messages are enough. */
  extractIdleMs: 300_000,
  /** Facts below this confidence are dropped: most are guesses. */
  minConfidence: 0.4,
  /** Facts below this importance are dropped: none, since it is the lowest. */
  minImportance: 1,
  /** Most facts that a model is asked for of one message. */
  candidatesPerTurn: 5,
  /** Most of them that are kept; with the preset "every-round" three, as of memories below. */
  factsPerMessage: 5,
  /**
   * Most memories that tools add for one user message, and most that they or the user's words
   * change: bounds the cost, and the effect of a poisoned message.
   */
  writesPerTurn: 3,
  /** Similarity from which memories are linked. Null: by the embedding model. */
  linkSimilarity: null as number | null,
  /** Most links of a new text. */
  links: 3,
  /** The share of `episodeEveryTurns` that stays out of episodes. */
  episodeKeepShare: 0.5,
};

export type MemoriesSettings = z.output<typeof memoriesSettingsSchema> &
  Readonly<typeof memoryConstants>;
