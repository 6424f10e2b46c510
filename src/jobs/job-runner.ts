import { AsyncResource } from "node:async_hooks";
import PQueue from "p-queue";
import { errorLine, type Logger } from "../logger.js";

/** Runs background work. A job's error is logged and goes no further: the tables say what is still due. */
export interface JobRunner {
  /** Resolves when `job` is under way ("background") or done ("inline"). */
  run(name: string, job: () => Promise<void>): Promise<void>;
  /** Resolves when nothing is running or waiting. */
  idle(): Promise<void>;
}

/** Jobs in this process, at most `concurrency` at once. */
export function backgroundJobs(concurrency: number, logger: Logger): JobRunner {
  const queue = new PQueue({ concurrency });
  const scope = outsideAnyRun();
  return {
    async run(name, job) {
      scope.runInAsyncScope(() => void queue.add(() => guarded(name, job, logger)));
    },
    idle: () => queue.onIdle(),
  };
}

/** Jobs done before the call returns. */
export function inlineJobs(logger: Logger): JobRunner {
  const scope = outsideAnyRun();
  return {
    run: (name, job) => scope.runInAsyncScope(() => guarded(name, job, logger)),
    idle: async () => {},
  };
}

/** A job started inside a graph's run would inherit its callbacks and stream into it; this scope has none. */
function outsideAnyRun(): AsyncResource {
  return new AsyncResource("mnemograph.jobs");
}

async function guarded(name: string, job: () => Promise<void>, logger: Logger): Promise<void> {
  try {
    await job();
  } catch (error) {
    logger.error(`${name} failed: ${errorLine(error)}`);
  }
}
