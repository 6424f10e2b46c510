import { defineConsentExpiry } from "./consents/consents-api.js";
import { fingerprintsForMs } from "./consolidation/consolidation-options.js";
import { defineConsolidation } from "./consolidation/define-consolidation.js";
import { sweepCompared } from "./consolidation/pair-statements.js";
import { defineEpisodes } from "./episodes/define-episodes.js";
import { MemoryError } from "./errors.js";
import { defineFacts } from "./facts/define-facts.js";
import { defineInsights } from "./insights/define-insights.js";
import { defineWork, type Within, type Work } from "./jobs/define-work.js";
import type { QueueOption } from "./jobs/job-queue.js";
import { createQueueRunner, parseWork, type QueueRunner, type WorkInput } from "./jobs/queue-runner.js";
import { createRunner, guarded } from "./jobs/runner.js";
import type { Job, WorkKind } from "./jobs/work-kinds.rule.js";
import { defineLifecycle, trimOldChanges } from "./lifecycle/lifecycle.js";
import { compactNotes, defineCompaction } from "./notes/define-compaction.js";
import { defineNotes } from "./notes/define-notes.js";
import type { ResolvedConfig } from "./options.js";
import { type Observe, reportWork } from "./rounds/observe.js";
import type { DueJob } from "./rounds/remember.js";
import type { Runtime } from "./runtime.js";
import { sweepItems } from "./store/sweep-items.js";
import { defineSummaries } from "./summaries/define-summaries.js";
import { trimRecords } from "./usage/usage-statements.js";

type Works = ReturnType<typeof defineWorks>;

export interface Maintenance {
  readonly runner: QueueRunner;
  readonly works: Works;
  start(due: readonly DueJob[]): Promise<void>;
}

const purgeEveryMs = 3_600_000;

/** Every kind of background work: a missing one does not compile. `patient` has no deadlines, for bulk work. */
function defineWorks(runtime: Runtime<ResolvedConfig>, patient: Runtime<ResolvedConfig>) {
  const compaction = defineCompaction(runtime);
  return {
    // First: what the user wants forgotten is left out of the others.
    facts: defineFacts(runtime),
    summaries: defineSummaries(runtime),
    episodes: defineEpisodes(runtime),
    notes: defineNotes(runtime, (owner) => compactNotes(compaction, owner)),
    compaction,
    insights: defineInsights(runtime),
    consolidation: defineConsolidation(runtime),
    lifecycle: defineLifecycle(patient),
    "consent-expiry": defineConsentExpiry(runtime.db),
    purge: definePurge(patient),
  } as const satisfies { readonly [Kind in WorkKind]: Work<Kind> };
}

function definePurge(deps: Runtime<ResolvedConfig>) {
  const { db, logger } = deps;
  return defineWork({
    ...{ kind: "purge", everyMs: purgeEveryMs, counted: false },
    due: async () => [0],
    async run() {
      await guarded("Old changes", () => trimOldChanges(deps), logger);
      await guarded("Old usage and events", () => trimRecords(db), logger);
      await guarded("Expired items of the store", () => sweepItems(db), logger);
      await guarded("Pairs compared long ago", () => sweepCompared(db, fingerprintsForMs), logger);
    },
  });
}

export function createMaintenance(
  runtime: Runtime<ResolvedConfig>,
  patient: Runtime<ResolvedConfig>,
  observe: Observe,
  jobs: "background" | "inline" | QueueOption,
): Maintenance {
  const { db, logger, hasModel, modelHere } = runtime;
  const { concurrency, sweepIntervalMs, pollIntervalMs } = runtime.config.jobs;
  const works = defineWorks(runtime, patient);
  const within: Within = (span, piece) => observe(span, piece, reportWork);
  const doable = (withModel: boolean): readonly Work[] =>
    Object.values(works).filter(({ enabled, needsModel }) => enabled && (withModel || !needsModel));
  const deps = { db, logger, within, concurrency, sweepIntervalMs, works: doable(hasModel) };
  const runner: QueueRunner =
    typeof jobs === "string"
      ? { ...createRunner(deps, jobs), work: refuseToWork }
      : createQueueRunner({ ...deps, option: jobs, own: doable(modelHere), pollIntervalMs });
  let wakesAt = Number.NEGATIVE_INFINITY;
  /** One timer for all threads that wait; sweeps find those due after it. */
  const wakeOnce = (delayMs: number) => {
    if (performance.now() < wakesAt) return;
    wakesAt = performance.now() + delayMs;
    runner.wakeIn(delayMs);
  };
  return {
    ...{ runner, works },
    async start(due) {
      const now: Job[] = [];
      for (const { inMs = 0, ...job } of due) {
        if (inMs > 0) wakeOnce(inMs);
        else now.push(job);
      }
      const facts = now.find(({ kind }) => kind === "facts");
      if (facts)
        await runner.start(
          facts,
          now.filter((job) => job !== facts),
        );
      else for (const job of now) await runner.start(job);
    },
  };
}

async function refuseToWork(input?: WorkInput): Promise<never> {
  parseWork(input);
  throw new MemoryError(
    "INVALID_INPUT",
    "This memory has no queues, and does its work in this process by itself: createMemory({ jobs: { pgBoss: {} } }).",
  );
}
