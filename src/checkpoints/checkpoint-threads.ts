import { findThreadsElsewhere } from "../conversation/claim-thread.js";
import {
  type ErasableThread,
  findErasableThreads,
  findThreadsOfId,
} from "../conversation/erasable-threads.js";
import type { Connection } from "../postgres/connection.js";
import { findErasureScope } from "../scope/erasure-scope.js";
import type { Scope } from "../scope/scope.js";
import {
  checkpointTableNames,
  existingTables,
  findCheckpointed,
  findCheckpointThreads,
} from "./checkpoint-statements.js";

/** Where LangGraph's checkpoints of threads are, as their column `thread_id` says it. */
export interface CheckpointNames {
  /** Those of the threads alone. */
  readonly own: readonly string[];
  /** Ids of threads under which checkpoints of other tenants lie as well: they hold the state of both. */
  readonly shared: readonly string[];
}

/**
 * Where the checkpoints of a tenant's threads are: under their own names, and under the thread ids, unless another
 * tenant uses these as well. There are those of runs that named no user, or had another checkpointer.
 */
export async function checkpointNamesOf(
  db: Connection,
  { tenantId, threads }: { tenantId: string; threads: readonly ErasableThread[] },
): Promise<CheckpointNames> {
  if (
    (
      await existingTables(
        db,
        checkpointTableNames.map((table) => ({ table })),
      )
    ).length === 0
  )
    return { own: [], shared: [] };
  const names = threads.flatMap(({ checkpointThreadId }) => checkpointThreadId ?? []);
  const unnamed = threads.flatMap(({ threadId, checkpointThreadId }) =>
    checkpointThreadId === threadId ? [] : [threadId],
  );
  const elsewhere = await findThreadsElsewhere(db, { tenantId, threadIds: unnamed });
  const taken = new Set(elsewhere.flatMap(({ id, tenants }) => (tenants > 0 ? [id] : [])));
  const mixed = elsewhere.flatMap(({ id, held }) => (taken.has(id) && !held ? [id] : []));
  return {
    own: [...names, ...unnamed.filter((id) => !taken.has(id))],
    shared: mixed.length === 0 ? [] : await findCheckpointed(db, mixed),
  };
}

/** Threads looked at together. */
const threadsAtOnce = 20;

/** Names under which there may be checkpoints, some at a time: those of one thread, of a scope, or all. */
export async function* checkpointThreads(
  db: Connection,
  { scope, threadId }: { scope: Scope | null; threadId: string | null },
): AsyncGenerator<readonly string[]> {
  if (scope) yield* threadsOfScope(db, scope, threadId);
  else if (threadId !== null) yield await namesOfId(db, threadId);
  else yield* allThreads(db);
}

async function namesOfId(db: Connection, threadId: string): Promise<string[]> {
  const threads = await findThreadsOfId(db, threadId);
  return [...new Set([threadId, ...threads.flatMap(({ checkpointThreadId }) => checkpointThreadId ?? [])])];
}

async function* allThreads(db: Connection): AsyncGenerator<string[]> {
  for (let after = ""; ; ) {
    const group = await findCheckpointThreads(db, { after, limit: threadsAtOnce });
    const last = group.at(-1);
    if (last === undefined) return;
    yield group;
    after = last;
  }
}

async function* threadsOfScope(
  db: Connection,
  requested: Scope,
  threadId: string | null,
): AsyncGenerator<readonly string[]> {
  const scope = await findErasureScope(db, requested);
  const { tenantId } = scope;
  for (let after = "0"; ; ) {
    const page = await findErasableThreads(db, scope, { after, limit: threadsAtOnce });
    const last = page.at(-1);
    if (last === undefined) return;
    const threads = page.filter((thread) => threadId === null || thread.threadId === threadId);
    yield (await checkpointNamesOf(db, { tenantId, threads })).own;
    after = last.ref;
  }
}
