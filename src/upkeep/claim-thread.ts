import type { Connection } from "../database/connection.js";
import { parseScope, type Scope } from "../domain/scope.js";
import { parseThreadId, threadForbidden } from "../domain/thread-id.js";
import type { UpkeepOptions } from "../options.js";
import { findThread } from "../store/claim-thread.js";
import { claimThreadTask, type ThreadTask, type ThreadTaskClaim } from "../store/claim-thread-task.js";
import { markThreadTask } from "../store/mark-thread-task.js";

/**
 * Claims a task of the thread named, whether or not it was due; null when the thread has none, another worker is
 * at it, or it waits for its next try.
 *
 * @throws MemoryError `SCOPE_REQUIRED`, `THREAD_REQUIRED`, `THREAD_FORBIDDEN`
 */
export async function claimThread(
  { db, config }: { db: Connection; config: { upkeep: UpkeepOptions } },
  input: { scope: Scope; threadId: string; task: ThreadTask },
): Promise<ThreadTaskClaim | null> {
  const { task } = input;
  const threadId = parseThreadId(input.threadId);
  const thread = await findThread(db, { scope: parseScope(input.scope), threadId });
  if (thread === null) throw threadForbidden(threadId);
  if (thread === undefined) return null;
  const { threadRef } = thread;
  await markThreadTask(db, { threadRef, task });
  return claimThreadTask(db, { task, threadRef, leaseMs: config.upkeep.leaseMs });
}
