import { longestTimerMs } from "../clock.js";
import { errorLine } from "../logger.js";
import { guarded, type Job, rememberAsked } from "./background-work.js";
import { type JobKind, kindOfWork } from "./job-kinds.rule.js";
import type { Line, QueueWorkerDeps } from "./queue-line.js";
import { queuedAtOnce } from "./worker-status.js";

/** Shortest time between two looks for due work, in ms. */
const shortestSweepMs = 1_000;

/** Puts what the tables say is due into the queues. Where those are gone, it is done here: a lost queue loses nothing. */
export function createSweeper(deps: QueueWorkerDeps, lines: ReadonlyMap<JobKind, Line>) {
  const { queue, workers, logger, sweepIntervalMs } = deps;
  const asked = rememberAsked();
  const full = new Set<JobKind>();
  let interval: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> | undefined;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let isWell = true;
  let stopped = false;

  const prepared = async () => {
    try {
      await queue.prepare();
      return true;
    } catch (error) {
      logger.warn(`The queues are gone, so this process works without them: ${errorLine(error)}`);
      return false;
    }
  };
  const place = (job: Job, inQueue: boolean) => {
    const line = job.ticket && lines.get(kindOfWork[job.ticket.work]);
    if (job.ticket && inQueue) queue.add(job.ticket);
    else if (line) line.runHere(job);
    else void guarded(job.name, job.run, logger);
  };
  const look = async () => {
    sweptAt = performance.now();
    const inQueue = await prepared();
    isWell = inQueue;
    full.clear();
    for (const worker of workers.filter(asked.isTime)) {
      if (stopped) return;
      asked.note(worker);
      const due = await worker.due(queuedAtOnce);
      for (const job of due) place(job, inQueue);
      const [work] = worker.works ?? [];
      if (due.length >= queuedAtOnce && work) full.add(kindOfWork[work]);
    }
    await queue.flush();
  };
  const sweep = () => {
    sweeping ??= look()
      .catch((error: unknown) => {
        isWell = false;
        logger.error(`Looking for due work failed: ${errorLine(error)}`);
      })
      .finally(() => {
        sweeping = undefined;
      });
  };
  const alarms = createAlarms(sweep);
  return {
    isWell: () => isWell,
    wakeIn: alarms.in,
    /** A queue is empty: where the last look did not see all that was due, the next comes at once. */
    onDry(kind: JobKind) {
      if (full.delete(kind)) alarms.in(Math.max(0, sweptAt + shortestSweepMs - performance.now()));
    },
    begin() {
      interval = setInterval(sweep, Math.min(sweepIntervalMs, longestTimerMs));
      sweep();
    },
    async stop() {
      stopped = true;
      clearInterval(interval);
      alarms.stop();
      await sweeping;
    },
  };
}

/** Calls `ring` later: once for all that is to be in the same second. */
function createAlarms(ring: () => void) {
  const timers = new Map<number, NodeJS.Timeout>();
  let stopped = false;
  return {
    in(delayMs: number) {
      const at = Math.ceil((performance.now() + Math.min(delayMs, longestTimerMs - 1_000)) / 1_000);
      if (stopped || timers.has(at)) return;
      const wake = () => {
        timers.delete(at);
        ring();
      };
      timers.set(at, setTimeout(wake, at * 1_000 - performance.now()));
    },
    stop() {
      stopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
