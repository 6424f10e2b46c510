import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { findSharedThreadIds, findThreadIds } from "../store/erase-threads.js";
import { findErasureScope } from "../store/erasure-scope.js";
import { findCheckpointThreads } from "../store/find-checkpoints.js";

/** Threads looked at together. */
const threadsAtOnce = 20;

/**
 * Ids of threads that may have checkpoints, some at a time: one, those of a scope, or all.
 *
 * Those of a scope without the ids that another tenant uses as well.
 */
export async function* checkpointThreads(
  db: Connection,
  { scope, threadId }: { scope: Scope | null; threadId: string | null },
): AsyncGenerator<string[]> {
  if (!scope && threadId !== null) yield [threadId];
  else if (scope) yield* threadsOfScope(db, scope, threadId);
  else yield* allThreads(db);
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
): AsyncGenerator<string[]> {
  const scope = await findErasureScope(db, requested);
  for (let after = "0"; ; ) {
    const page = await findThreadIds(db, scope, { after, limit: threadsAtOnce });
    const last = page.at(-1);
    if (last === undefined) return;
    const ids = page.map((thread) => thread.threadId).filter((id) => threadId === null || id === threadId);
    const shared = new Set(await findSharedThreadIds(db, { tenantId: scope.tenantId, threadIds: ids }));
    yield ids.filter((id) => !shared.has(id));
    after = last.ref;
  }
}
