import sql, { empty } from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { abortSignal, callback, parseInput, storableText } from "../../input/parse-input.js";
import { insertEvent, type MemoryEvent } from "../../observability/events/event-log.js";
import type { Database } from "../../postgres/database.js";
import {
  type ErasedThread,
  type ErasureScope,
  findErasureScope,
  hasMemory,
  hasScope,
} from "../../scope/erasure-scope.js";
import { requiredScope, requiredThread, type Scope } from "../../scope/scope.js";
import {
  type BatchOptions,
  type EraseBatch,
  eraseConversationBatch,
  eraseItemBatch,
  eraseMemoryBatch,
  eraseRecordBatch,
  threadsPerBatch,
} from "./erase-batches.js";
import { lockExistingOwner } from "./erase-memories.js";
import { beginErasure, type ErasedBy, endErasure } from "./erasure-log.js";
import { addCounts, countsInWords, type RowCounts, totalOf } from "./erasure-tables.js";
import { previewForget } from "./preview-forget.js";
import type { ReceiptsOptions } from "./receipts-options.js";

/** Progress, in rows. */
interface ForgetProgress {
  readonly done: number;
  /** Grows when others write meanwhile. */
  readonly total: number;
}

export interface ForgetInput extends z.input<typeof eraseSchema> {}

export interface DeleteThread extends z.input<typeof deleteThreadSchema> {}

export interface Forgotten {
  /** Rows deleted by this run, by table; only tables with any. */
  readonly removed: Readonly<Record<string, number>>;
  readonly total: number;
  /**
   * Threads whose checkpoints stay: a checkpointer without tenants wrote them for another tenant's
   * thread of the same id too. They are deleted with the last such thread.
   */
  readonly sharedThreads: readonly string[];
  /**
   * False after a dry run that found something, and when others kept writing to the scope: run it
   * again.
   */
  readonly complete: boolean;
}

const forgetSchema = z.strictObject({
  scope: requiredScope,
  /** Only count what would go. @default false */
  dryRun: z.boolean().default(false),
  /** Rows per table and transaction, 1 to 10000. @default 500 */
  batchSize: z.int().min(1).max(10_000).default(500),
  /** Called at the start and after each transaction. */
  onProgress: callback<(progress: ForgetProgress) => void>().optional(),
  /** Stops between transactions, with its reason as the error; run it again to continue. */
  signal: abortSignal.optional(),
});

const eraseSchema = forgetSchema.extend({
  /** Who erases, for the receipt. @default "api" */
  actor: storableText.min(1).default("api"),
});

const deleteThreadSchema = forgetSchema.extend({
  threadId: requiredThread,
  /**
   * "keep": memories stay without their source and quotes. "remove": they are deleted too.
   * Episodes, which summarize the conversation, are always deleted.
   * @default "keep"
   */
  memories: z.enum(["keep", "remove"]).default("keep"),
});

/**
 * Deletes everything that belongs to `scope`, in every table, and the checkpoints of its threads.
 *
 * `{ userId }`: all data of the user in every app, and the notes that apps made of the user's
 * conversations; `{ userId, appId }`: the user's memories and threads in that app; `{ appId }`: the
 * app's own data. Works in transactions of bounded size; the next run finishes an interrupted one.
 * One event and one record for a receipt, without content or user, stay in the tenant. Later writes
 * to the scope stay. A running graph fails when it writes its state to `memory.checkpointer()`.
 * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`
 */
export async function forget(
  { db, receipts }: { readonly db: Database; readonly receipts: ReceiptsOptions },
  input: ForgetInput,
): Promise<Forgotten> {
  const { scope, actor, ...options } = parseInput(eraseSchema, input, "forgetting");
  return erase(db, scope, null, options, { actor, idKey: receipts.idKey });
}

/**
 * Deletes one thread with all that depends on it: messages, summaries, waiting work, checkpoints,
 * episodes, its events; with `memories: "remove"` also what was learned there. Works as `forget`.
 * @throws MemoryError `NOT_FOUND` when the scope has no such thread; `SCOPE_REQUIRED`,
 * `INVALID_INPUT`
 */
export async function deleteThread(db: Database, input: DeleteThread): Promise<Forgotten> {
  const given = parseInput(deleteThreadSchema, input, "thread to delete");
  const { scope, threadId, memories, ...options } = given;
  return erase(
    db,
    scope,
    { threadId, memories: memories === "remove" ? "all" : "episodes" },
    options,
  );
}

/** Bounds the run while others keep writing. */
const maxPasses = 3;

async function erase(
  db: Database,
  scope: Scope,
  thread: ErasedThread | null,
  options: Omit<z.output<typeof forgetSchema>, "scope">,
  by: ErasedBy | null = null,
): Promise<Forgotten> {
  // What would go: the answer of a dry run, and the total of its progress otherwise.
  const preview = await previewForget(db, scope, thread);
  // An interrupted call may have deleted the thread and left its records.
  if (thread && preview.total === 0)
    throw new MemoryError("NOT_FOUND", `This scope has no thread "${thread.threadId}".`);
  if (options.dryRun) return preview;
  const run: ForgetRun = {
    ...options,
    db,
    scope,
    record:
      by === null
        ? null
        : await beginErasure(db, await findErasureScope(db, scope), by, preview.removed),
    expected: preview.total,
    removed: {},
    shared: new Set(),
  };
  run.onProgress?.({ done: 0, total: run.expected });

  let complete = false;
  for (let pass = 0; pass < maxPasses && !complete; pass++) {
    const erasure = await findErasureScope(db, scope, thread);
    // Each kind in batches until none is left; records come last, also those of these deletions.
    complete = true;
    for (const eraseBatch of [
      eraseMemoryBatch,
      eraseConversationBatch,
      eraseItemBatch,
      eraseRecordBatch,
    ])
      complete = (await eraseAll(run, erasure, eraseBatch)) && complete;
    // Then the owner, with an event, unless something was written meanwhile.
    complete &&= await finishErasure(run, erasure);
  }
  // Others kept writing: the event says what went.
  if (!complete) await insertEvent(db, tombstone(scope, run.removed));
  const total = totalOf(run.removed);
  return { removed: run.removed, total, sharedThreads: [...run.shared].toSorted(), complete };
}

interface ForgetRun extends BatchOptions, Pick<ForgetInput, "onProgress" | "signal"> {
  readonly db: Database;
  readonly expected: number;
  readonly removed: RowCounts;
  /** Of the erasure, for its receipt. */
  readonly record: string | null;
}

/** False when others write faster than it deletes. */
async function eraseAll(
  run: ForgetRun,
  erasure: ErasureScope,
  eraseBatch: EraseBatch,
): Promise<boolean> {
  const { expected, removed } = run;
  const maxTransactions = 20 + expected / Math.min(run.batchSize, threadsPerBatch / 2);
  for (let count = 0; count < maxTransactions; count++) {
    run.signal?.throwIfAborted();
    const erased = await run.db.transaction((tx) => eraseBatch(tx, erasure, run));
    if (totalOf(erased) === 0) return true;
    addCounts(removed, erased);
    const done = totalOf(removed);
    run.onProgress?.({ done, total: Math.max(done, expected) });
  }
  return false;
}

/**
 * If nothing is left, deletes the owner of a whole scope, and records the event. False when rows
 * are left.
 */
async function finishErasure(
  { db, scope, removed, record }: ForgetRun,
  erasure: ErasureScope,
): Promise<boolean> {
  const { ownerRef, thread, whole } = erasure;
  const erased = await db.transaction(async (tx) => {
    const { schema } = tx;
    if (ownerRef !== null) await lockExistingOwner(tx, ownerRef);
    const isItem = sql`exists (select from ${schema}.store_item x where ${hasScope(erasure)})`;
    const [row] = await tx.query<{ remains: boolean }>(sql`
      select exists (select from ${schema}.memory x where ${hasMemory(tx, erasure)})
        or exists (select from ${schema}.thread x where ${hasScope(erasure)})
        ${thread ? empty : sql`or ${isItem}`} as remains`);
    if (row?.remains !== false) return null;
    const gone = !whole
      ? []
      : await tx.query(sql`
        delete from ${schema}.owner o
        where o.id = ${ownerRef}::bigint and not ${isItem}
          and not exists (select from ${schema}.memory m where m.owner_ref = o.id)
          and not exists (select from ${schema}.thread t where t.owner_ref = o.id)
        returning o.id`);
    const owner = gone.length;
    const counts = { ...removed };
    addCounts(counts, { owner });
    if (totalOf(counts) > 0) await insertEvent(tx, tombstone(scope, counts));
    if (record) await endErasure(tx, record, (await previewForget(tx, scope, null)).removed);
    return { owner };
  });
  addCounts(removed, erased ?? {});
  return erased !== null;
}

/** Names no user and no app. */
export function tombstone({ tenantId }: Scope, removed: RowCounts): MemoryEvent {
  const scope = tenantId === undefined ? {} : { tenantId };
  return { scope, step: "forget", op: "forget", status: "ok", detail: countsInWords(removed) };
}
