import { z } from "zod";
import { timerOption } from "../../text/parse-input.js";

const extractAfterSchema = z.strictObject({
  /** User messages of a thread that make it due. With 1, each does; with 4 a call is made for four. @default 1 */
  messages: z.int().min(1).max(1_000).default(1),
  /**
   * How long a thread is silent until fewer are enough: then its user has gone. In this process it is found within
   * `jobs.sweepIntervalMs` of that time; else by whoever calls `memory.upkeep()`. Five minutes.
   *
   * @default 300_000
   */
  idleMs: timerOption.min(1).default(300_000),
});

/** When facts are extracted of a thread. */
export interface ExtractAfterConfig extends z.input<typeof extractAfterSchema> {}

export const memoryOptionsSchema = z.strictObject({
  /** Whether facts are extracted from what users say, after each round. Needs a model. @default true */
  extract: z.boolean().default(true),
  /**
   * When facts are extracted: as soon as so many messages of a thread's user wait, or the thread was silent so long. One call
   * takes all that wait, ten at most. What waits is in the tables: no restart loses it, `memory.idle()` does not wait for it,
   * and `memory.upkeep()` does it when its time has come.
   */
  extractAfter: extractAfterSchema.prefault({}),
  /** Whether older turns become episodes. Needs a model. @default true */
  episodes: z.boolean().default(true),
  /** Facts below this confidence are not kept. Below, guesses outnumber facts. @default 0.4 */
  minConfidence: z.number().min(0).max(1).default(0.4),
  /**
   * Facts below this importance are not kept. What the model gives less than 1, the least there is, is not worth keeping.
   *
   * @default 1
   */
  minImportance: z.number().min(1).max(5).default(1),
  /** Most facts one message may give: more is a model that splits hairs. @default 5 */
  candidatesPerTurn: z.int().min(1).default(5),
  /** Most facts written after one user message: bounds cost, and what one poisoned message can do. @default 3 */
  writesPerTurn: z.int().min(1).default(3),
  /** Most facts extracted for one owner in a day. Ten full turns. @default 30 */
  writesPerDay: z.int().min(1).default(30),
  /** Similarity from which a free statement is the same, without asking. @default 0.95 */
  mergeSimilarity: z.number().min(0).max(1).default(0.95),
  /** Similarity from which a model is asked whether it is the same. @default 0.85 */
  askSimilarity: z.number().min(0).max(1).default(0.85),
  /** Similarity from which a pair is worth a later look. @default 0.75 */
  reviewSimilarity: z.number().min(0).max(1).default(0.75),
  /**
   * `mergeSimilarity` for updates of who the user is: what `consent` names. Halfway to certainty from the others: what waits
   * for the user's consent, or for a second signal, must not pass for something else.
   *
   * @default 0.975
   */
  contextMergeSimilarity: z.number().min(0).max(1).default(0.975),
  /** `askSimilarity` for the same. @default 0.925 */
  contextAskSimilarity: z.number().min(0).max(1).default(0.925),
  /** `reviewSimilarity` for the same. @default 0.875 */
  contextReviewSimilarity: z.number().min(0).max(1).default(0.875),
  /** Similarity from which memories are linked: well above unrelated sentences of common models. @default 0.6 */
  linkSimilarity: z.number().min(0).max(1).default(0.6),
  /** Most links made for a memory whose text is new. @default 3 */
  links: z.int().min(0).default(3),
  /** Turns of a thread after which the older ones become an episode. @default 20 */
  episodeEveryTurns: z.int().min(2).default(20),
  /** Turns that stay out of episodes: the summary and the messages themselves still hold them. @default 10 */
  episodeKeepTurns: z.int().min(0).default(10),
});

/** Which memories are made and kept, and when two are the same. */
export interface MemoriesConfig extends z.input<typeof memoryOptionsSchema> {}

/** Which memories are made and kept, and how alike they may be. */
export type MemoryOptions = z.output<typeof memoryOptionsSchema>;
