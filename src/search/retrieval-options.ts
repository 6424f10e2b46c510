import { z } from "zod";
import type { CategoryPolicy } from "../memories/item/category.js";
import type { Runtime } from "../runtime.js";
import { timerOption } from "../text/parse-input.js";

/** Whether a turn is shown memories. */
export const recallModeSchema = z.enum(["active", "passive"]);
export type RecallMode = z.output<typeof recallModeSchema>;

export const retrievalOptionsSchema = z.strictObject({
  /**
   * "passive" writes and does not recall: turns are shown their conversation and no memories. A run says otherwise by
   * `memory_mode`, and a node by its option.
   *
   * @default "active"
   */
  mode: recallModeSchema.default("active"),
  /**
   * A text search configuration of PostgreSQL; "simple" where there is none for the language.
   *
   * @default "english"
   */
  language: z.string().min(1).default("english"),
  /** Slots below this importance are not shown unasked. The middle of the scale. @default 2.5 */
  minSlotImportance: z.number().min(1).max(5).default(2.5),
  /**
   * Least similarity of what is shown unasked. Without it, a tenth of the question's words, or a vector that stands out
   * from what is unrelated in its space.
   */
  threshold: z.number().min(0).max(1).optional(),
  /** Most hits shown unasked. @default 8 */
  topK: z.int().min(1).default(8),
  /** Most episodes shown unasked. @default 3 */
  topEpisodes: z.int().min(0).default(3),
  /** Episodes farther than this are not shown, with embeddings. Cosine distance. @default 0.4 */
  maxEpisodeDistance: z.number().min(0).max(2).default(0.4),
  /** Tokens of memory shown unasked, the conversation's summary apart. @default 1_500 */
  budgetTokens: z.int().min(50).default(1_500),
  /** Longest wait for the embedding of a question; recall goes on without it. @default 2_000 */
  embedTimeoutMs: timerOption.min(1).default(2_000),
  /**
   * Longest time of a recall's search in the database; then the turn is told what is known without a question. Users
   * notice a second; searches take milliseconds. Does not hold on the embedded database.
   *
   * @default 2_000
   */
  timeoutMs: timerOption.min(1).default(2_000),
});

/** How memories are found. */
export interface RetrievalConfig extends z.input<typeof retrievalOptionsSchema> {}

/** How memories are found. */
type RetrievalOptions = z.output<typeof retrievalOptionsSchema>;

/** What a search takes. */
export type SearchRuntime = Runtime<{
  readonly retrieval: RetrievalOptions;
  readonly policy: CategoryPolicy;
}>;
