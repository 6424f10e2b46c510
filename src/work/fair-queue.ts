import PQueue from "p-queue";
import { currentTenancy } from "../postgres/isolation.js";

/**
 * Runs at most `concurrency` jobs; a tenant's next job waits for one of each other tenant
 * (start-time fair queueing).
 */
export function createFairQueue(concurrency: number) {
  const queue = new PQueue({ concurrency });
  const turns = new Map<string | undefined, number>();
  let current = 0;
  return async (job: () => Promise<unknown>): Promise<void> => {
    const tenancy = currentTenancy();
    const turn = Math.max(current, turns.get(tenancy) ?? 0) + 1;
    turns.set(tenancy, turn);
    const begin = () => {
      current = turn;
      if (turns.get(tenancy) === turn) turns.delete(tenancy);
      return job();
    };
    await queue.add(begin, { priority: -turn });
  };
}
