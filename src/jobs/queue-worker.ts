import { AsyncResource } from "node:async_hooks";
import type { Job, Worker } from "./background-work.js";
import { type JobKind, type JobTicket, kindOfWork, type WorkName } from "./job-kinds.rule.js";
import { type Counts, createBell, createLine, type QueueWorkerDeps } from "./queue-line.js";
import { createSweeper } from "./queue-sweeper.js";
import type { WorkerStatus } from "./worker-status.js";

/**
 * Takes jobs of `kinds` from their queues, and puts into them what the tables say is due. A job that two workers get is done
 * by the one that gets its lease.
 */
export function createQueueWorker(deps: QueueWorkerDeps & { readonly kinds: readonly JobKind[] }) {
  const outside = new AsyncResource("mnemograph.worker");
  const byWork = new Map<WorkName, Worker>();
  for (const worker of deps.workers) for (const work of worker.works ?? []) byWork.set(work, worker);
  const kinds = deps.kinds.filter((kind) => [...byWork.keys()].some((work) => kindOfWork[work] === kind));
  const counts = new Map<JobKind, Counts>(kinds.map((kind) => [kind, { done: 0, failed: 0, running: 0 }]));
  const jobOf = (ticket: JobTicket | null): Job | undefined =>
    ticket ? byWork.get(ticket.work)?.at?.(ticket) : undefined;
  const bell = createBell();
  const lines = new Map(
    [...counts].map(([kind, ofKind]) => [kind, createLine(deps, kind, { bell, jobOf, counts: ofKind })]),
  );
  const sweeper = createSweeper(deps, lines);
  let loops: Promise<unknown>[] = [];
  deps.queue.onAdded((kind) => bell.ring(kind));

  return {
    begin() {
      outside.runInAsyncScope(() => {
        loops = [...lines.values()].map((line) => line.follow(sweeper.onDry));
        sweeper.begin();
      });
    },
    wakeIn: (delayMs: number) => sweeper.wakeIn(delayMs),
    status(): WorkerStatus {
      const all = [...counts.values()];
      const sum = (count: keyof Counts) => all.reduce((total, each) => total + each[count], 0);
      return {
        ready: sweeper.isWell() && !bell.stopped(),
        ...{ done: sum("done"), failed: sum("failed"), running: sum("running") },
        kinds: Object.fromEntries([...counts].map(([kind, each]) => [kind, { ...each }])),
      };
    },
    async stop() {
      bell.stop();
      await sweeper.stop();
      await Promise.all(loops);
      await deps.queue.flush();
    },
  };
}
