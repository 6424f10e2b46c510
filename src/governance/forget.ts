import { z } from "zod";
import type { Database } from "../database/database.js";
import { abortSignal, listener, parseInput } from "../domain/parse-input.js";
import { parseScope, parseScoped, type Scope, scopeField } from "../domain/scope.js";
import { parseThreadId } from "../domain/thread-id.js";
import { MemoryError } from "../errors.js";
import { findErasableThreads } from "../store/erase-threads.js";
import { type ErasedThread, findErasureScope } from "../store/erasure-scope.js";
import { createEraser } from "./erase-scope.js";
import { previewForget } from "./preview-forget.js";

/** How far a forgetting has come, in rows. */
export interface ForgetProgress {
  readonly done: number;
  /** Grows when others write meanwhile. */
  readonly total: number;
}

/** How to forget. */
export interface ForgetOptions {
  /** Only count what would go. @default false */
  readonly dryRun?: boolean | undefined;
  /** Rows of a table deleted in one transaction, 1 to 10000. @default 500 */
  readonly batchSize?: number | undefined;
  /** Told at the start and after each transaction. */
  readonly onProgress?: ((progress: ForgetProgress) => void) | undefined;
  /** Stops between two transactions, with its reason as the error; run it again to go on. */
  readonly signal?: AbortSignal | undefined;
}

/** Which thread to remove, and how. */
export interface RemoveThread extends ForgetOptions {
  readonly scope: Scope;
  readonly threadId: string;
  /**
   * "keep": what was learned there stays, without where and in which words it was said. "remove": it goes as well.
   * Episodes, which are the conversation in short, go either way. @default "keep"
   */
  readonly memories?: "keep" | "remove" | undefined;
}

/** What was forgotten. */
export interface Forgotten {
  /** Rows deleted by this run, by table; tables without any are left out. */
  readonly removed: Readonly<Record<string, number>>;
  readonly total: number;
  /**
   * Threads of which LangGraph checkpoints stay: a graph whose checkpointer keeps no tenants apart has written them, for
   * another tenant with the same thread id as well. They go when the last of them is forgotten.
   */
  readonly sharedThreads: readonly string[];
  /** False after a dry run that found something, and when others kept writing to the scope: run it again. */
  readonly complete: boolean;
}

const optionsSchema = z.strictObject({
  dryRun: z.boolean().default(false),
  batchSize: z.int().min(1).max(10_000).default(500),
  onProgress: listener<(progress: ForgetProgress) => void>().optional(),
  signal: abortSignal.optional(),
});

const removeThreadSchema = optionsSchema.extend({
  ...{ scope: scopeField, threadId: z.unknown() },
  memories: z.enum(["keep", "remove"]).default("keep"),
});

/** A writer that never rests must not keep this from ending. */
const mostPasses = 3;

/**
 * Deletes everything that belongs to `scope`, in every table, and the checkpoints of its threads.
 *
 * Of `{ userId }` all of the user, in every app; of `{ userId, appId }` the user's memories and threads in that app;
 * of `{ appId }` what the app has of its own. In transactions of bounded size; what makes the rest findable goes last,
 * so that a run that was interrupted is finished by the next. One event without content or user is left, in the
 * tenant. What others write to the scope after the last transaction is new and stays. A graph's run that is under way
 * does not write its state again to `memory.checkpointer()`: it fails.
 *
 * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`
 */
export async function forget(
  db: Database,
  requested: Scope,
  options: ForgetOptions = {},
): Promise<Forgotten> {
  const scope = parseScope(requested);
  return erase(db, scope, null, parseInput(optionsSchema, options, "forgetting"));
}

/**
 * Deletes one thread with all that hangs on it: messages, summaries, work that waits, checkpoints, episodes, its events;
 * with `memories: "remove"` also what was learned there, which other threads are told is gone. As `forget` does it, and
 * finished by another call when it was interrupted.
 *
 * @throws MemoryError `NOT_FOUND` when the scope has no such thread; `SCOPE_REQUIRED`, `INVALID_INPUT`
 */
export async function removeThread(db: Database, input: RemoveThread): Promise<Forgotten> {
  const asked = parseScoped(removeThreadSchema, input, "thread to remove");
  const { scope, threadId, memories, ...options } = asked;
  const thread: ErasedThread = {
    threadId: parseThreadId(threadId),
    memories: memories === "remove" ? "all" : "episodes",
  };
  const [found] = await findErasableThreads(db, await findErasureScope(db, scope, thread), { limit: 1 });
  if (found) return erase(db, scope, thread, options);
  throw new MemoryError("NOT_FOUND", `This scope has no thread "${thread.threadId}".`);
}

async function erase(
  db: Database,
  scope: Scope,
  thread: ErasedThread | null,
  { dryRun, batchSize, ...watched }: z.output<typeof optionsSchema>,
): Promise<Forgotten> {
  const preview = await previewForget(db, scope, thread);
  if (dryRun) return preview;
  const eraser = createEraser(db, { ...watched, limit: batchSize, expected: preview.total });
  let complete = false;
  for (let pass = 0; pass < mostPasses && !complete; pass++) complete = await eraser.pass(scope, thread);
  if (!complete) await eraser.leaveTombstone(scope);
  return { ...eraser.result(), complete };
}
