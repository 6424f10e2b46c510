import type { Connection } from "../database/connection.js";
import type { Work, WorkKind } from "../jobs/background-work.js";
import {
  claimThreadTask,
  findDueThreads,
  type ThreadTask,
  type ThreadTaskClaim,
} from "../store/claim-thread-task.js";

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
