import { createConsentExpiryWork } from "./consents/consents-api.js";
import { createCompressionGraph } from "./episodes/compression-graph.js";
import { createExtractionGraph } from "./facts/extraction-graph.js";
import {
  acrossAllTenants,
  type BackgroundWork,
  createBackgroundWork,
  keepTenant,
  type Worker,
} from "./jobs/background-work.js";
import { createTaskWorker } from "./jobs/thread-task.js";
import { createLifecycle } from "./lifecycle/lifecycle.js";
import type { ResolvedConfig } from "./options.js";
import { type Observe, reportWork, spans } from "./rounds/observe.js";
import type { DueTask, Remembered } from "./rounds/remember.js";
import type { Runtime } from "./runtime.js";
import { createSummaryWorker } from "./summaries/claim-summary.js";
import { createSummarizationGraph } from "./summaries/summarization-graph.js";

/** The work that one memory does in the background. */
export interface Upkeep {
  readonly background: BackgroundWork;
  readonly lifecycle: ReturnType<typeof createLifecycle>;
  readonly graphs: {
    readonly summarization: ReturnType<typeof createSummarizationGraph>;
    readonly extraction: ReturnType<typeof createExtractionGraph>;
    readonly compression: ReturnType<typeof createCompressionGraph>;
  };
  /** Starts what a round made due. */
  start(summary: Remembered["summary"], due: readonly DueTask[]): Promise<void>;
}

/**
 * Which work there is, by whom it is done, and how it starts. A new kind of it is one more worker here.
 *
 * @param patient the same runtime without deadlines, for work in bulk.
 */
export function createUpkeep(
  runtime: Runtime<ResolvedConfig>,
  patient: Runtime<ResolvedConfig>,
  observe: Observe,
  jobs: "background" | "inline",
): Upkeep {
  const { db, config, logger, hasModel } = runtime;
  const lifecycle = createLifecycle(patient);
  const graphs = {
    summarization: createSummarizationGraph(runtime),
    extraction: createExtractionGraph(runtime),
    compression: createCompressionGraph(runtime),
  };
  const summaries = createSummaryWorker(db, config.summaries, (claim) =>
    observe(spans.summarize, () => graphs.summarization.invoke({ claim }), reportWork),
  );
  const { leaseMs } = config.upkeep;
  const tasks = {
    extract: createTaskWorker(db, {
      ...{ task: "extract", leaseMs },
      step: (claim) => observe(spans.extract, () => graphs.extraction.invoke({ claim }), reportWork),
    }),
    compress: createTaskWorker(db, {
      ...{ task: "compress", leaseMs },
      step: (claim) => observe(spans.compress, () => graphs.compression.invoke({ claim }), reportWork),
    }),
  };
  const withModel: Worker[] = [
    summaries,
    ...(config.memories.extract ? [tasks.extract] : []),
    ...(config.memories.episodes ? [tasks.compress] : []),
  ];
  const withoutModel: Worker[] = [createConsentExpiryWork(db), lifecycle.work, lifecycle.trimming];
  // Made once: a sweep remembers when it last looked for each.
  const workers = [...(hasModel ? withModel : []), ...withoutModel].map((worker) =>
    acrossAllTenants(db, worker),
  );
  const background = createBackgroundWork({ ...config.jobs, ...{ logger, jobs }, workers });
  let wakesAt = Number.NEGATIVE_INFINITY;
  /** One timer for all threads that wait; those that come due after it are for the sweeps. */
  const wakeOnce = (delayMs: number) => {
    if (performance.now() < wakesAt) return;
    wakesAt = performance.now() + delayMs;
    background.wakeIn(delayMs);
  };
  return {
    background,
    lifecycle,
    graphs,
    async start(summary, due) {
      if (summary.started) await background.start(keepTenant(summaries.of(summary.claim)));
      for (const { task, threadRef, inMs = 0 } of due) {
        if (inMs > 0) wakeOnce(inMs);
        else await background.start(keepTenant(tasks[task].of(threadRef)));
      }
    },
  };
}
