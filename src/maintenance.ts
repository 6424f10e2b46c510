import sql, { type Sql } from "sql-template-tag";
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
import { hastenWork } from "./jobs/work-table.js";
import { defineLifecycle, trimOldChanges } from "./lifecycle/lifecycle.js";
import { compactNotes, defineCompaction } from "./notes/define-compaction.js";
import { defineNotes } from "./notes/define-notes.js";
import type { ResolvedConfig } from "./options.js";
import { keepTenancy } from "./postgres/isolation.js";
import type { Runtime } from "./runtime.js";
import { sweepItems } from "./store/sweep-items.js";
import { defineSummaries } from "./summaries/define-summaries.js";
import { type Observe, reportWork } from "./turns/observe.js";
import type { DueJob } from "./turns/remember.js";
import { trimRecords } from "./usage/usage-statements.js";

type Works = ReturnType<typeof defineWorks>;

export interface Maintenance {
  readonly runner: QueueRunner;
  readonly works: Works;
  start(due: readonly DueJob[]): Promise<void>;
  /** Starts what waits for more to be said, of threads that a query finds. */
  hasten(threads: Sql): Promise<void>;
  /** Does what waits, and waits for what is under way. */
  idle(): Promise<void>;
}

/** Most threads of which a process knows that they wait; a sweep finds the others. */
const mostWaiting = 10_000;

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
    kind: "purge",
    everyMs: purgeEveryMs,
    counted: false,
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
  /** Threads that wait, by what their turn could see. */
  const waiting = new Map<number, ReturnType<typeof keepTenancy>>();
  const hasten = async (threads: Sql) => {
    const { extract, extractAfterMessages } = runtime.config.memories;
    if (!hasModel || !extract || extractAfterMessages === 1) return;
    for (const ref of await hastenWork(db, "facts", threads)) await runner.start({ kind: "facts", ref });
  };
  const wait = async (ref: number, inMs: number) => {
    if (jobs === "inline") return hasten(sql`select ${ref}::bigint`);
    if (waiting.size === mostWaiting) waiting.clear();
    waiting.set(ref, keepTenancy());
    wakeOnce(inMs);
  };
  const startNow = async (due: readonly Job[]) => {
    const facts = due.find(({ kind }) => kind === "facts");
    const others = due.filter((job) => job !== facts);
    if (facts) {
      waiting.delete(facts.ref);
      return runner.start(facts, others);
    }
    for (const job of others) await runner.start(job);
  };
  return {
    runner,
    works,
    hasten,
    async idle() {
      const known = [...waiting];
      waiting.clear();
      for (const [ref, seeing] of known) await seeing(() => hasten(sql`select ${ref}::bigint`));
      await runner.idle();
    },
    async start(due) {
      for (const { ref, inMs = 0 } of due) if (inMs > 0) await wait(ref, inMs);
      await startNow(due.flatMap(({ inMs = 0, ...job }) => (inMs > 0 ? [] : job)));
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
