import { createConsentExpiryWork } from "./consents/consents-api.js";
import { createConsolidationJob } from "./consolidation/consolidation-graph.js";
import { createConsolidationWork } from "./consolidation/consolidation-work.js";
import { createCompressionJob } from "./episodes/compression-graph.js";
import { MemoryError } from "./errors.js";
import { createExtractionJob } from "./facts/extraction-graph.js";
import { createInsightsJob } from "./insights/insights-graph.js";
import { acrossAllTenants, createBackgroundWork, keepTenant, type Worker } from "./jobs/background-work.js";
import type { JobTicket } from "./jobs/job-kinds.rule.js";
import { createJobQueue, type QueueOption } from "./jobs/job-queue.js";
import { createOwnerTaskWorker } from "./jobs/owner-task.js";
import { createQueuedWork, parseWork, type QueuedWork, type WorkInput } from "./jobs/queue-work.js";
import { createTaskWorker } from "./jobs/thread-task.js";
import { createLifecycle } from "./lifecycle/lifecycle.js";
import { compactNotes, createCompactionJob } from "./notes/compaction-graph.js";
import { createNoteJob } from "./notes/note-graph.js";
import { leavesNotes } from "./notes/notes-options.js";
import type { ResolvedConfig } from "./options.js";
import { type Observe, type Observed, reportWork, spans } from "./rounds/observe.js";
import type { DueTask, Remembered } from "./rounds/remember.js";
import type { Runtime } from "./runtime.js";
import type { ThreadRef } from "./scope/scope.js";
import { createStoreSweep } from "./store/sweep-items.js";
import { createSummaryWorker } from "./summaries/claim-summary.js";
import { createSummarizationJob } from "./summaries/summarization-graph.js";

/** The work that one memory does in the background. */
export interface Upkeep {
  readonly background: QueuedWork;
  readonly jobs: {
    readonly summarization: ReturnType<typeof createSummarizationJob>;
    readonly extraction: ReturnType<typeof createExtractionJob>;
    readonly compression: ReturnType<typeof createCompressionJob>;
    readonly note: ReturnType<typeof createNoteJob>;
    readonly compaction: ReturnType<typeof createCompactionJob>;
    readonly insights: ReturnType<typeof createInsightsJob>;
    readonly consolidation: ReturnType<typeof createConsolidationJob>;
  };
  /** Starts the note of a conversation that ended. */
  startNote(threadRef: ThreadRef): Promise<void>;
  /** Starts a job that has become due, where this process does or queues work of its kind; sweeps find it else. */
  startTicket(ticket: JobTicket): Promise<void>;
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
  jobs: "background" | "inline" | QueueOption,
): Upkeep {
  const { db, hasModel, modelHere } = runtime;
  const lifecycle = createLifecycle(patient);
  const compaction = createCompactionJob(runtime);
  const jobsOf = {
    summarization: createSummarizationJob(runtime),
    extraction: createExtractionJob(runtime),
    compression: createCompressionJob(runtime),
    note: createNoteJob(runtime, (owner) => compactNotes(compaction, owner)),
    compaction,
    insights: createInsightsJob(runtime),
    consolidation: createConsolidationJob(runtime),
  };
  const workers = createWorkers(runtime, jobsOf, observe);
  const { summaries, tasks } = workers;
  const withoutModel: Worker[] = [
    createConsentExpiryWork(db),
    ...[lifecycle.work, lifecycle.trimming, createStoreSweep(patient.db)],
  ];
  // Made once: a sweep remembers when it last looked for each.
  const forAll = (worker: Worker) => acrossAllTenants(db, worker);
  const mechanical = withoutModel.map(forAll);
  const withModel = hasModel ? workers.enabled : [];
  const all = [...withModel.map(forAll), ...mechanical];
  const background = createWork(runtime, jobs, { all, own: modelHere ? all : mechanical });
  let wakesAt = Number.NEGATIVE_INFINITY;
  /** One timer for all threads that wait; those that come due after it are for the sweeps. */
  const wakeOnce = (delayMs: number) => {
    if (performance.now() < wakesAt) return;
    wakesAt = performance.now() + delayMs;
    background.wakeIn(delayMs);
  };
  return {
    background,
    jobs: jobsOf,
    startNote: (threadRef) => background.start(keepTenant(tasks.note.of(threadRef))),
    async startTicket(ticket) {
      // Not for all tenants: who sees one of them may do its work.
      const ofKind = [...withModel, ...withoutModel].find(({ works = [] }) => works.includes(ticket.work));
      const job = ofKind?.at?.(ticket);
      if (job) await background.start(keepTenant(job));
    },
    async start(summary, due) {
      if (summary.started) await background.start(keepTenant(summaries.of(summary.claim)));
      for (const { task, threadRef, inMs = 0 } of due) {
        if (inMs > 0) wakeOnce(inMs);
        else await background.start(keepTenant(tasks[task].of(threadRef)));
      }
    },
  };
}

/** How `workers` are put to work: in this process, or by queues. */
function createWork(
  { db, config, logger }: Runtime<ResolvedConfig>,
  jobs: "background" | "inline" | QueueOption,
  { all: workers, own }: { readonly all: readonly Worker[]; readonly own: readonly Worker[] },
): QueuedWork {
  const { concurrency, sweepIntervalMs, pollIntervalMs } = config.jobs;
  const inProcess = (how: "background" | "inline") =>
    createBackgroundWork({ jobs: how, concurrency, sweepIntervalMs, logger, workers });
  if (typeof jobs === "string") return { ...inProcess(jobs), work: refuseToWork };
  return createQueuedWork({
    ...{ queue: createJobQueue(db, jobs, logger), local: inProcess("background") },
    ...{ workers, own, logger, pollIntervalMs, sweepIntervalMs, mayWork: db.mayCrossTenants },
    concurrency,
  });
}

async function refuseToWork(input?: WorkInput): Promise<never> {
  parseWork(input);
  throw new MemoryError(
    "INVALID_INPUT",
    "This memory has no queues, and does its work in this process by itself: createMemory({ jobs: { pgBoss: {} } }).",
  );
}

/** The workers that need a model, each of which does claimed work within a span. */
function createWorkers({ db, config }: Runtime<ResolvedConfig>, jobs: Upkeep["jobs"], observe: Observe) {
  const { leaseMs } = config.upkeep;
  const stepOf =
    <Claim>(span: Observed, job: { run(input: { claim: Claim }): Promise<{ status?: string }> }) =>
    (claim: Claim) =>
      observe(span, () => job.run({ claim }), reportWork);
  const summaries = createSummaryWorker(db, config.summaries, stepOf(spans.summarize, jobs.summarization));
  const tasks = {
    extract: createTaskWorker(db, {
      ...{ task: "extract", leaseMs },
      step: stepOf(spans.extract, jobs.extraction),
    }),
    compress: createTaskWorker(db, {
      ...{ task: "compress", leaseMs },
      step: stepOf(spans.compress, jobs.compression),
    }),
    note: createTaskWorker(db, { ...{ task: "note", leaseMs }, step: stepOf(spans.note, jobs.note) }),
  };
  const compactions = createOwnerTaskWorker(db, {
    ...{ task: "compact", leaseMs },
    step: stepOf(spans.compact, jobs.compaction),
  });
  const insights = createOwnerTaskWorker(db, {
    ...{ task: "insights", leaseMs },
    step: stepOf(spans.insights, jobs.insights),
  });
  const consolidation = createConsolidationWork(
    { db, config },
    stepOf(spans.consolidate, jobs.consolidation),
  );
  const enabled: Worker[] = [
    summaries,
    ...(config.memories.extract ? [tasks.extract] : []),
    ...(config.memories.episodes ? [tasks.compress] : []),
    ...(leavesNotes(config.notes) ? [tasks.note, compactions] : []),
    ...(config.insights.enabled ? [insights] : []),
    ...(config.consolidation.enabled ? consolidation : []),
  ];
  return { summaries, tasks, enabled };
}
