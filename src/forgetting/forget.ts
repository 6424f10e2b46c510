import sql from "sql-template-tag";
import { z } from "zod";
import { checkpointNamesOf, existingTables } from "../checkpoints/checkpoint-names.js";
import { findErasableThreads } from "../conversation/list-threads.js";
import { MemoryError } from "../errors.js";
import type { Database } from "../postgres/database.js";
import {
  type ErasedThread,
  findErasureScope,
  hasMemory,
  hasScope,
  notesOf,
  threadsOf,
} from "../scope/erasure-scope.js";
import { parseScoped, parseThreadId, type Scope, scopeField, threadField } from "../scope/scope.js";
import { abortSignal, callback } from "../text/parse-input.js";
import {
  createEraser,
  type ForgetOptions,
  type ForgetProgress,
  type Forgotten,
} from "./erase-scope.js";
import {
  checkpointTables,
  countRows,
  eventTables,
  memoryRecordTables,
  memoryTables,
  messageTables,
  noteRecordTables,
  noteSourceTables,
  recordTables,
  storeTables,
  threadTables,
} from "./erasure-tables.js";

async function previewForget(
  db: Database,
  scope: Scope,
  thread: ErasedThread | null,
): Promise<Forgotten> {
  const erasure = await findErasureScope(db, scope, thread);
  const threads = await findErasableThreads(db, erasure);
  const names = await checkpointNamesOf(db, { tenantId: erasure.tenantId, threads });
  const keys = {
    memories: sql`array(
      select x.ref from ${db.schema}.memory x where ${hasMemory(db, erasure)}
      union
      select x.ref from ${db.schema}.memory x where x.id in (${notesOf(db, erasure)})
    )`,
    memoryIds: sql`array(select x.id from ${db.schema}.memory x where ${hasMemory(db, erasure)})`,
    threads: sql`array(${threadsOf(db, erasure)})`,
    checkpointThreads: sql`${names.own}::text[]`,
    noteIds: sql`array(${notesOf(db, erasure)})`,
    items: sql`array(select x.ref from ${db.schema}.store_item x where ${hasScope(erasure)})`,
  };
  const tables = await existingTables(db, [
    ...memoryTables,
    ...checkpointTables,
    ...messageTables,
    ...threadTables,
    ...noteRecordTables,
    ...(thread
      ? [...memoryRecordTables, ...noteSourceTables, ...eventTables]
      : [...storeTables, ...recordTables]),
  ]);
  const counts = await countRows(db, tables, { keys, scope: erasure });
  const owner = erasure.ownerRef !== null && erasure.whole ? 1 : 0;
  const removed = Object.fromEntries(
    Object.entries({ ...counts, thread: threads.length, owner }).filter(([, count]) => count > 0),
  );
  const total = Object.values(removed).reduce((sum, count) => sum + count, 0);
  return { removed, total, sharedThreads: names.shared.toSorted(), complete: total === 0 };
}

export interface ForgetInput extends ForgetOptions {
  readonly scope: Scope;
}

export interface DeleteThread extends ForgetInput {
  readonly threadId: string;
  /**
   * "keep": memories stay without their source and quotes. "remove": they are deleted too.
   * Episodes, which summarize the conversation, are always deleted.
   * @default "keep"
   */
  readonly memories?: "keep" | "remove" | undefined;
}

const forgetSchema = z.strictObject({
  scope: scopeField,
  dryRun: z.boolean().default(false),
  batchSize: z.int().min(1).max(10_000).default(500),
  onProgress: callback<(progress: ForgetProgress) => void>().optional(),
  signal: abortSignal.optional(),
});

const deleteThreadSchema = forgetSchema.extend({
  threadId: threadField,
  memories: z.enum(["keep", "remove"]).default("keep"),
});

/** Bounds the run while others keep writing. */
const mostPasses = 3;

/**
 * Deletes everything that belongs to `scope`, in every table, and the checkpoints of its threads.
 *
 * `{ userId }`: all data of the user in every app, and the notes that apps made of the user's
 * conversations; `{ userId, appId }`: the user's memories and threads in that app; `{ appId }`: the
 * app's own data. Works in transactions of bounded size; the next run finishes an interrupted one.
 * One event without content or user stays in the tenant. Later writes to the scope stay. A running
 * graph fails when it writes its state to `memory.checkpointer()`.
 * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`
 */
export async function forget(db: Database, input: ForgetInput): Promise<Forgotten> {
  const { scope, ...options } = parseScoped(forgetSchema, input, "forgetting");
  return erase(db, scope, null, options);
}

/**
 * Deletes one thread with all that depends on it: messages, summaries, waiting work, checkpoints,
 * episodes, its events; with `memories: "remove"` also what was learned there. Works as `forget`.
 * @throws MemoryError `NOT_FOUND` when the scope has no such thread; `SCOPE_REQUIRED`,
 * `INVALID_INPUT`
 */
export async function deleteThread(db: Database, input: DeleteThread): Promise<Forgotten> {
  const { scope, threadId, memories, ...options } = parseScoped(
    deleteThreadSchema,
    input,
    "thread to delete",
  );
  const erased = memories === "remove" ? "all" : "episodes";
  const thread: ErasedThread = { threadId: parseThreadId(threadId), memories: erased };
  const [found] = await findErasableThreads(db, await findErasureScope(db, scope, thread), {
    limit: 1,
  });
  // An interrupted call may have deleted the thread and left its records.
  if (found || (await previewForget(db, scope, thread)).total > 0)
    return erase(db, scope, thread, options);
  throw new MemoryError("NOT_FOUND", `This scope has no thread "${thread.threadId}".`);
}

async function erase(
  db: Database,
  scope: Scope,
  thread: ErasedThread | null,
  { dryRun, batchSize, ...listeners }: Omit<z.output<typeof forgetSchema>, "scope">,
): Promise<Forgotten> {
  const preview = await previewForget(db, scope, thread);
  if (dryRun) return preview;
  const eraser = createEraser(db, { ...listeners, limit: batchSize, expected: preview.total });
  let complete = false;
  for (let pass = 0; pass < mostPasses && !complete; pass++)
    complete = await eraser.pass(scope, thread);
  if (!complete) await eraser.leaveTombstone(scope);
  return { ...eraser.result(), complete };
}
