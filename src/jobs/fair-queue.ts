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
  return {
    async add(job: () => Promise<unknown>): Promise<void> {
      const tenancy = currentTenancy();
      const turn = Math.max(current, turns.get(tenancy) ?? 0) + 1;
      turns.set(tenancy, turn);
      const begin = () => {
        current = turn;
        if (turns.get(tenancy) === turn) turns.delete(tenancy);
        return job();
      };
      await queue.add(begin, { priority: -turn });
    },
    idle: () => queue.onIdle(),
  };
}

const turnSeconds = 10;
const longestLeadSeconds = 86_400;
const mostTenants = 10_000;

/** In seconds: turns are 32-bit integers in the queue's table. */
const firstTurn = Date.UTC(2026, 0) / 1_000;

/**
 * Fair priorities for a queue that several processes fill: a tenant's turns are 10 s apart. The
 * highest runs first.
 */
export function createTurns(): (place?: number) => number {
  const turns = new Map<string | undefined, number>();
  return (place) => {
    const now = Math.floor(Date.now() / 1_000) - firstTurn;
    // Due work of all tenants is already in fair order.
    if (place !== undefined) return -(now + place * turnSeconds);
    const tenancy = currentTenancy();
    const next = Math.max(now, (turns.get(tenancy) ?? 0) + turnSeconds);
    const turn = Math.min(next, now + longestLeadSeconds);
    if (turns.size >= mostTenants) turns.clear();
    turns.set(tenancy, turn);
    return -turn;
  };
}
