import { findThread } from "../conversation/claim-thread.js";
import { record } from "../conversation/record.js";
import { defineWork } from "../jobs/define-work.js";
import { findOmissions } from "../jobs/omissions.js";
import { type Claim, type SkipReason, skipWork } from "../jobs/work-table.js";
import { parseScope, type ThreadAddress } from "../scope/scope.js";
import {
  completeSummary,
  failSummary,
  findSummaryWork,
  limitSummary,
  type SummaryWork,
} from "./claim-summary.js";
import { makeSummary, summaryText } from "./make-summary.js";
import { isTurnOpen, startSummary } from "./start-summary.js";
import type { SummaryRuntime } from "./summary-window.rule.js";

export type Summarized = { summary: string | null; dropped: number; generationTimeMs: number };

/** Summarises a claimed thread: load → summaries → validate → save. */
export function defineSummaries(deps: SummaryRuntime) {
  const { summaries } = deps.config;
  const rowOf = ({ summaryId }: SummaryWork) => `Memory ${summaryId}`;
  return defineWork<"summaries", SummaryWork, Summarized>(
    {
      kind: "summaries",
      of: "thread",
      from: -1,
      enabled: true,
      // All failures count alike: the next turn starts a fresh summary.
      tries: { ...summaries, maxFailures: summaries.maxAttempts },
      heedsRequests: true,
      fresh: { summary: null, dropped: 0, generationTimeMs: 0 },
      meanwhile: "The previous summary stays in use",
      range: (work) => work,
      rowOf,
      onFailed: failSummary,
      claim: (address) => claimNow(deps, address),
      load: async (claim) =>
        (await findSummaryWork(deps.db, claim)) ??
        skipWork(deps.db, claim, { doneUntil: claim.doneUntil }, "nothing_new"),
      prepare: (_, work) => limitSummary(deps, work, summaries),
      async make({ work }, { renew, charge }) {
        const startedAt = performance.now();
        const said = [...work.dropped, ...work.added];
        const omissions = await findOmissions(
          deps.db,
          work,
          said,
          work.base ? [work.base.text] : [],
        );
        const made = await makeSummary(
          { ...deps, model: deps.model() },
          work,
          summaries,
          renew,
          charge,
          omissions,
        );
        const { text: summary, dropped } = made;
        return { summary, dropped, generationTimeMs: Math.round(performance.now() - startedAt) };
      },
      async validate({ summary }) {
        const { text } = await summaryText(deps.screen, summary ?? "", summaries.maxCharacters);
        return { summary: await deps.redactor.text(text) };
      },
      async save({ claim, work, summary, dropped, generationTimeMs }) {
        const { summaryId, startSeq, endSeq, threadId, scope } = work;
        const detail = dropped > 0 ? "instruction" : undefined;
        const event = {
          scope,
          threadId,
          step: "summaries",
          op: "create",
          status: "ok",
          detail,
        } as const;
        const window = { startSeq, endSeq };
        const made = { summaryId, text: summary ?? "", generationTimeMs, window, event };
        await completeSummary(deps.db, claim, made);
        const of = { threadId, step: "summaries", summaryId, ...window };
        deps.logger.debug(`${rowOf(work)} status updated to completed`, of);
        deps.logger.info(
          `Summarized messages ${startSeq}-${endSeq} for ${threadId} in ${generationTimeMs}ms`,
          {
            ...of,
            durationMs: generationTimeMs,
          },
        );
        if (startSeq > 0)
          deps.logger.info(`Sliding window: dropping seq 0-${startSeq - 1} for ${threadId}`);
        return {};
      },
    },
    deps,
  );
}

async function claimNow(
  deps: SummaryRuntime,
  { scope, threadId }: ThreadAddress,
): Promise<Claim | SkipReason> {
  if (!(await findThread(deps.db, { scope: parseScope(scope), threadId }))) return "not_found";
  const thread = await record(deps, { scope, threadId, messages: [] });
  if (await isTurnOpen(deps.db, thread.threadRef, [])) return "round_open";
  const start = await startSummary({ ...deps, summaries: deps.config.summaries }, thread, threadId);
  return start.started ? start.claim : start.reason;
}
