import { z } from "zod";
import { dayMs } from "../../clock.js";
import { spanOption } from "../../input/parse-input.js";

export const lifecycleOptionsSchema = z.strictObject({
  /**
   * A memory unused for this long may be forgotten. Raise it for rare users.
   * @default 5_184_000_000, 60 days
   */
  unusedAfterMs: spanOption.min(1).default(60 * dayMs),
  /**
   * Only memories below this importance (1 to 5; unrated ones have 3) are forgotten by age. Raise
   * it when minor facts crowd out others.
   * @default 3
   */
  importanceBelow: z.number().min(1).max(6).default(3),
  /**
   * How long a removed memory can be restored. Lower it to delete data sooner.
   * @default 2_592_000_000, 30 days
   */
  purgeAfterMs: spanOption.min(0).default(30 * dayMs),
});

export const threadOptionsSchema = z.strictObject({
  /**
   * Days after which a conversation that nobody went on with is deleted, as `threads.delete` does
   * it: transcript, summaries and checkpoints go, memories stay. One that waits for background work
   * or for the user's consent stays as long.
   * @default none: conversations stay
   */
  idleDays: z.int().min(1).max(36_500).optional(),
});

export const checkpointOptionsSchema = z.strictObject({
  /**
   * How many of its newest checkpoints a thread of `memory.checkpointer()` keeps, and what they
   * need; the last one of each branch stays too. Raise it for time travel further back.
   * @default none: all stay
   */
  keep: z.int().min(1).optional(),
});

export type LifecycleOptions = z.output<typeof lifecycleOptionsSchema>;
