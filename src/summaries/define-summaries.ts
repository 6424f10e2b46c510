import type { Logger } from "../logger.js";
import { parseScope, type ThreadAddress } from "../scope/scope.js";
import { findThread } from "../transcript/claim-thread.js";
import { record } from "../transcript/record.js";
import { defineWork } from "../work/define-work.js";
import type { Taken } from "../work/work-definition.js";
import { type Claim, type SkipReason, skipWork, takeWork } from "../work/work-table.js";
import {
  completeSummary,
  failSummary,
  findSummaryWork,
  limitSummary,
  type Summarized,
  type SummaryWork,
} from "./claim-summary.js";
import { makeSummary, summaryText } from "./make-summary.js";
import { isTurnOpen, logStatus, startSummary } from "./start-summary.js";
import type { SummaryRuntime } from "./summary-window.rule.js";

/** Summarises a claimed thread: load → ask → check → save. */
export function defineSummaries(deps: SummaryRuntime) {
  const { db, logger } = deps;
  const { summaries } = deps.config;
  return defineWork<SummaryWork, Summarized>(
    {
      kind: "summaries",
      of: "thread",
      policy: {
        enabled: true,
        // All failures count alike: the next turn starts a fresh summary.
        tries: { ...summaries, maxFailures: summaries.maxAttempts },
        from: -1,
        heedsRequests: true,
        staysFailed: true,
        meanwhile: "The previous summary stays in use",
      },
      fresh: { summary: null, dropped: 0, generationTimeMs: 0 },
      claim: (address) => claimNow(deps, address),
      steps: {
        // The window, the messages since the last summary, and those that leave the window.
        load: async (claim) =>
          (await findSummaryWork(db, claim)) ??
          skipWork(db, claim, { doneUntil: claim.doneUntil }, "nothing_new"),
        limit: (_, work) => limitSummary(deps, work, summaries),
        // The next version, piece by piece, without what the user asked to forget.
        ask: async ({ work }, tools) => {
          const startedAt = performance.now();
          const { text: summary, dropped } = await makeSummary(deps, work, tools);
          return { summary, dropped, generationTimeMs: Math.round(performance.now() - startedAt) };
        },
        // No instructions, no headings, at most `maxCharacters`, redacted.
        async check({ summary }) {
          const { text } = await summaryText(deps.screen, summary ?? "", summaries.maxCharacters);
          return { summary: await deps.redactor.text(text) };
        },
        // Its row and the thread's cursor, in one statement.
        async save(made) {
          await completeSummary(db, made);
          logCompleted(logger, made);
          return {};
        },
        async fail(tx, claim, work) {
          await failSummary(tx, claim);
          if (work) logStatus(logger, work, "failed");
        },
      },
    },
    deps,
  );
}

function logCompleted(logger: Logger, { work, generationTimeMs }: Taken<SummaryWork, Summarized>) {
  const { summaryId, threadId, startSeq, endSeq } = work;
  logStatus(logger, work, "completed");
  logger.info(
    `Summarized messages ${startSeq}-${endSeq} for ${threadId} in ${generationTimeMs}ms`,
    { threadId, step: "summaries", summaryId, startSeq, endSeq, durationMs: generationTimeMs },
  );
  if (startSeq > 0) logger.info(`Sliding window: dropping seq 0-${startSeq - 1} for ${threadId}`);
}

async function claimNow(
  deps: SummaryRuntime,
  { scope, threadId }: ThreadAddress,
): Promise<Claim | SkipReason> {
  if (!(await findThread(deps.db, { scope: parseScope(scope), threadId }))) return "not_found";
  const thread = await record(deps, { scope, threadId, messages: [] });
  if (await isTurnOpen(deps.db, thread.threadRef, [])) return "round_open";
  const start = await startSummary({ ...deps, summaries: deps.config.summaries }, thread, threadId);
  if (!start.started) return start.reason;
  const { leaseMs } = deps.config.summaries;
  const key = { kind: "summaries", of: "thread" } as const;
  return (await takeWork(deps.db, key, [thread.threadRef], leaseMs)) ?? "already_running";
}
