import { z } from "zod";
import { dayMs } from "../clock.js";
import type { WriteConfig } from "../memories/write/write-runtime.js";
import type { Runtime } from "../runtime.js";
import { spanOption } from "../text/parse-input.js";

export const lifecycleOptionsSchema = z.strictObject({
  /**
   * A memory that was neither said nor recalled for this long may be forgotten: two months without a use.
   *
   * @default 5_184_000_000, 60 days
   */
  unusedAfterMs: spanOption.min(1).default(60 * dayMs),
  /**
   * Only memories below this importance are forgotten by age, from 1 to 5. What nobody rated has 3, so that only what
   * was judged minor goes.
   *
   * @default 3
   */
  importanceBelow: z.number().min(1).max(6).default(3),
  /**
   * How long a removed or forgotten memory can be restored: time to notice and to regret.
   *
   * @default 2_592_000_000, 30 days
   */
  purgeAfterMs: spanOption.min(0).default(30 * dayMs),
  /**
   * How long news of changes is kept, for delta headers and `changes.since`: half a year. A thread that was used since was told of
   * all that is older; one that was not is told of what is left. The audit trail keeps everything.
   *
   * @default 15_552_000_000, 180 days
   */
  keepChangesMs: spanOption.min(0).default(180 * dayMs),
  /**
   * How often this process looks for memories to forget and to purge. Both are a matter of days.
   *
   * @default 3_600_000
   */
  intervalMs: spanOption.min(10).default(3_600_000),
  /**
   * Most memories of one owner changed in one transaction, which its writers wait for: some 50 ms.
   *
   * @default 500
   */
  batchSize: z.int().min(1).max(10_000).default(500),
});

/** When memories are forgotten by age, and for good. */
export interface LifecycleConfig extends z.input<typeof lifecycleOptionsSchema> {}

/** When memories are forgotten by age, and when for good. */
export type LifecycleOptions = z.output<typeof lifecycleOptionsSchema>;

/** What ageing memories takes. */
export type LifecycleRuntime = Pick<
  Runtime<WriteConfig & { readonly lifecycle: LifecycleOptions }>,
  "db" | "config" | "embedder"
>;
