import { z } from "zod";
import { timerOption } from "../text/parse-input.js";

const heldOptionsSchema = z.strictObject({
  /**
   * Whether this process may hold owners in memory, so that a recall of an active one asks the database for little more
   * than what changed. `held: false` says the same as `held: { enabled: false }`.
   *
   * @default true
   */
  enabled: z.boolean().default(true),
  /**
   * An owner is taken in, in the background, at the second recall within this time: what that costs is earned back after
   * some ten recalls, which a conversation has and a single question has not. Where there are embeddings, so it is at the
   * write that follows twenty others: writes of a held owner compare with its vectors here. One that is too large, or could
   * not be read, is left alone for as long.
   *
   * @default 600_000, ten minutes
   */
  withinMs: timerOption.min(1).default(600_000),
  /**
   * An owner that was not asked for is let go after this time: by then a conversation is mostly over.
   *
   * @default 600_000, ten minutes
   */
  idleMs: timerOption.min(1).default(600_000),
  /**
   * Bytes that all held owners take together at most; the one that was asked for longest ago goes first. A memory takes
   * some 2.5 kB with a vector of 384 dimensions, so this is one owner of 20,000 memories, or a thousand of 25.
   *
   * @default 64_000_000
   */
  mostBytes: z.int().min(1).default(64_000_000),
  /**
   * Owners with more active memories are not held: taking in this many takes two thirds of a second, and more would not
   * fit in `mostBytes`.
   *
   * @default 20_000
   */
  mostMemories: z.int().min(1).default(20_000),
  /**
   * Owners with more messages are not held: scoring this many takes this process some 2 ms of each recall.
   *
   * @default 20_000
   */
  mostMessages: z.int().min(1).default(20_000),
});

/** Which owners this process holds in memory, and for how long. */
export interface HeldConfig extends z.input<typeof heldOptionsSchema> {}

/** Which owners this process holds in memory, and for how long. */
export type HeldOptions = z.output<typeof heldOptionsSchema>;

/** The same as an option of retrieval: true and false stand for `enabled` alone. */
export const heldOption = z
  .custom<HeldConfig | boolean>()
  .transform((given) => (typeof given === "boolean" ? { enabled: given } : given))
  .pipe(heldOptionsSchema);
