import { findThread } from "../conversation/claim-thread.js";
import type { Connection } from "../postgres/connection.js";
import { parseScope, type Scope } from "../scope/scope.js";
import { parseThreadId, threadForbidden } from "../scope/thread-id.js";
import type { Work, WorkKind } from "./background-work.js";
import type { UpkeepOptions } from "./jobs-options.js";
import {
  claimThreadTask,
  findDueThreads,
  markThreadTask,
  type ThreadTask,
  type ThreadTaskClaim,
} from "./thread-task.js";

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

/** A task of threads as background work. */
export interface ThreadTaskWork extends WorkKind {
  /** All that is due of one thread. */
  of(threadRef: number): Work;
}

/**
 * `task` of all threads as background work; `step` does one claimed piece of it.
 *
 * A thread is claimed when its turn has come, so that no lease runs out in the queue.
 */
export function createThreadTaskWork(
  db: Connection,
  {
    task,
    leaseMs,
    step,
  }: { task: ThreadTask; leaseMs: number; step: (claim: ThreadTaskClaim) => Promise<void> },
): ThreadTaskWork {
  const of = (threadRef: number): Work => ({
    name: `Task "${task}" of thread ${threadRef}`,
    async run() {
      for (;;) {
        const claim = await claimThreadTask(db, { threadRef, task, leaseMs });
        if (!claim) return;
        await step(claim);
      }
    },
  });
  return { of, due: async (limit) => (await findDueThreads(db, { task, limit })).map(of) };
}
