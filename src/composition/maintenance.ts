import sql, { type Sql } from "sql-template-tag";
import type { ResolvedConfig } from "../config.js";
import { defineConsentExpiry } from "../consents/consents-api.js";
import { defineEpisodes } from "../episodes/define-episodes.js";
import { MemoryError } from "../errors.js";
import { defineFacts } from "../facts/define-facts.js";
import { compactNotes, defineCompaction } from "../notes/define-compaction.js";
import { defineNotes } from "../notes/define-notes.js";
import { trimRecords } from "../observability/usage/usage-statements.js";
import { keepTenancy } from "../postgres/isolation.js";
import { sweepRuns } from "../reflection/consolidation/consolidation-run.js";
import { defineConsolidation } from "../reflection/consolidation/define-consolidation.js";
import { sweepCompared } from "../reflection/consolidation/pair-statements.js";
import { defineInsights } from "../reflection/insights/define-insights.js";
import type { DueJob } from "../remember/remember.js";
import { deleteIdleThreads, pruneThreads } from "../retention/lifecycle/age-threads.js";
import { defineLifecycle } from "../retention/lifecycle/lifecycle.js";
import { trimOldChanges } from "../retention/lifecycle/trim-changes.js";
import type { Runtime } from "../runtime.js";
import { sweepItems } from "../store/sweep-items.js";
import { defineSummaries } from "../summaries/define-summaries.js";
import { firstOf, type Within, type Work } from "../work/define-work.js";
import {
  createQueueRunner,
  parseWork,
  type QueueRunner,
  type WorkInput,
} from "../work/queue-runner.js";
import { createRunner, guarded } from "../work/runner.js";
import type { QueueOption } from "../work/wake-ups.js";
import type { Job, WorkKind } from "../work/work-kinds.rule.js";
import { hastenWork } from "../work/work-table.js";
import { type Observe, reportWork } from "./observe.js";

export type Maintenance = ReturnType<typeof createMaintenance>;

/** Most delayed threads that a process remembers; sweeps find the others. */
const maxDelayed = 10_000;

const purgeEveryMs = 3_600_000;

/**
 * Every kind of background work: a missing one does not compile. The statements of `bulk` have no
 * deadline.
 */
function defineWorks(runtime: Runtime<ResolvedConfig>, bulk: Runtime<ResolvedConfig>) {
  const compaction = defineCompaction(runtime);
  return {
    // First, so that the others omit memories that the user asked to forget.
    facts: defineFacts(runtime),
    summaries: defineSummaries(runtime),
    episodes: defineEpisodes(runtime),
    notes: defineNotes(runtime, (owner) => compactNotes(compaction, owner)),
    compaction,
    insights: defineInsights(runtime),
    consolidation: defineConsolidation(runtime),
    lifecycle: defineLifecycle(bulk),
    "consent-expiry": defineConsentExpiry(runtime.db),
    purge: definePurge(bulk),
  } satisfies Readonly<Record<WorkKind, Work>>;
}

type Purge = (deps: Runtime<ResolvedConfig>) => Promise<void>;

const purges: Readonly<Record<string, Purge>> = {
  "Idle threads": ({ db, config }) => deleteIdleThreads(db, config.threads.idleDays),
  "Superseded checkpoints": ({ db, config }) => pruneThreads(db, config.checkpoints.keep),
  "Old changes": ({ db }) => trimOldChanges(db),
  "Old usage and events": ({ db }) => trimRecords(db),
  "Expired items of the store": ({ db }) => sweepItems(db),
  "Pairs compared long ago": ({ db }) => sweepCompared(db),
  "Old runs of consolidation": ({ db }) => sweepRuns(db),
};

function definePurge(deps: Runtime<ResolvedConfig>): Work {
  const { logger } = deps;
  return {
    kind: "purge",
    everyMs: purgeEveryMs,
    uncounted: true,
    due: async () => [0],
    run: firstOf(async () => {
      for (const [name, purge] of Object.entries(purges))
        await guarded(name, () => purge(deps), logger);
    }),
  };
}

export function createMaintenance(
  runtime: Runtime<ResolvedConfig>,
  observe: Observe,
  jobs: "background" | "inline" | QueueOption = "background",
) {
  const { logger, hasModel, modelHere } = runtime;
  const db = runtime.db.background();
  const { concurrency, sweepIntervalMs, pollIntervalMs } = runtime.config.jobs;
  const works = defineWorks({ ...runtime, db }, { ...runtime, db: db.patient });
  const within: Within = (span, work) => observe(span, work, reportWork);
  const enabledWorks = (withModel: boolean): readonly Work[] =>
    Object.values(works).filter(
      ({ enabled, needsModel }) => enabled !== false && (withModel || !needsModel),
    );
  const deps = { db, logger, within, concurrency, sweepIntervalMs, works: enabledWorks(hasModel) };
  const runner: QueueRunner =
    typeof jobs === "string"
      ? { ...createRunner(deps, jobs), work: refuseToWork }
      : createQueueRunner({ ...deps, option: jobs, own: enabledWorks(modelHere), pollIntervalMs });
  let wakesAt = Number.NEGATIVE_INFINITY;
  /** Delayed threads, each with the tenancy of its turn. */
  const delayed = new Map<number, ReturnType<typeof keepTenancy>>();
  /** Starts the fact extractions that wait for more messages, in the threads that the query finds. */
  const hasten = async (threads: Sql) => {
    const { extract, extractAfterMessages } = runtime.config.memories;
    if (!hasModel || !extract || extractAfterMessages === 1) return;
    for (const ref of await hastenWork(db, "facts", threads))
      await runner.start({ kind: "facts", ref });
  };
  const delay = async (ref: number, delayMs: number) => {
    if (jobs === "inline") return hasten(sql`select ${ref}::bigint`);
    if (delayed.size === maxDelayed) delayed.clear();
    delayed.set(ref, keepTenancy());
    // One timer for all delayed threads; sweeps find those due after it.
    if (performance.now() < wakesAt) return;
    wakesAt = performance.now() + delayMs;
    runner.wakeIn(delayMs);
  };
  return {
    runner,
    works,
    hasten,
    /** Starts delayed work now, and waits for all running work. */
    async idle() {
      const threads = [...delayed];
      delayed.clear();
      for (const [ref, inTenancy] of threads)
        await inTenancy(() => hasten(sql`select ${ref}::bigint`));
      await runner.idle();
    },
    async start(due: readonly DueJob[]) {
      const now: Job[] = [];
      for (const { inMs = 0, ...job } of due)
        if (inMs > 0) await delay(job.ref, inMs);
        else now.push(job);
      const facts = now.find(({ kind }) => kind === "facts");
      const others = now.filter((job) => job !== facts);
      if (facts) {
        delayed.delete(facts.ref);
        return runner.start(facts, others);
      }
      for (const job of others) await runner.start(job);
    },
  };
}

async function refuseToWork(input?: WorkInput): Promise<never> {
  parseWork(input);
  const hint = "For workers, use createMemory({ jobs: { pgBoss: {} } }).";
  throw new MemoryError(
    "INVALID_INPUT",
    `This memory has no queues: it does its work in this process. ${hint}`,
  );
}
