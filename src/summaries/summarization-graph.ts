import { findThread } from "../conversation/claim-thread.js";
import { record } from "../conversation/record.js";
import { backgroundJob } from "../jobs/background-graph.js";
import { parseScope, type ThreadAddress } from "../scope/scope.js";
import {
  completeSummary,
  findSummaryWork,
  limitSummary,
  type SummaryClaim,
  type SummaryWork,
  summaryLeases,
} from "./claim-summary.js";
import { makeSummary, summaryText } from "./make-summary.js";
import { isRoundOpen, startSummary } from "./start-summary.js";
import type { SummaryRuntime } from "./summary-window.rule.js";

/** What the steps of summarization make. */
interface Summarized {
  summary: string | null;
  /** Sentences left out of it, since they read as instructions to a model. */
  dropped: number;
  generationTimeMs: number;
}

/** The job that makes one summary: load → summarize → validate → save. */
export function createSummarizationJob(deps: SummaryRuntime) {
  const { summaries } = deps.config;
  return backgroundJob<SummaryClaim, SummaryWork, Summarized>(deps, {
    ...{ name: "summarization", step: "summarize", table: summaryLeases },
    // A summary has as many tries whatever fails: the next round starts a fresh one.
    tries: { ...summaries, maxFailures: summaries.maxAttempts },
    fresh: { summary: null, dropped: 0, generationTimeMs: 0 },
    meanwhile: "The previous summary stays in use",
    doing: "Summarizing",
    range: (work) => work,
    claim: (address) => claimNow(deps, address),
    load: async (claim) => (await findSummaryWork(deps.db, claim)) ?? "lost",
    prepare: (_, work) => limitSummary(deps, work, summaries),
    async make({ work }, renew) {
      const startedAt = performance.now();
      const { scope, threadId } = work;
      const charge = deps.usage.charging({ scope, threadId, kind: "summary" });
      const { text: summary, dropped } = await makeSummary(deps.model(), work, summaries, renew, charge);
      return { summary, dropped, generationTimeMs: Math.round(performance.now() - startedAt) };
    },
    async validate({ summary }) {
      const { text } = summaryText(summary ?? "", summaries.maxCharacters);
      return { summary: await deps.redactor.text(text) };
    },
    async save({ claim, work, summary, dropped, generationTimeMs }) {
      const { startSeq, endSeq, threadId, scope } = work;
      const window = { startSeq, endSeq };
      const detail = dropped > 0 ? "instruction" : undefined;
      const event = { scope, threadId, step: "summarize", op: "create", status: "ok", detail } as const;
      await completeSummary(deps.db, claim, { text: summary ?? "", generationTimeMs, window, event });
      const of = { threadId, step: "summarize", summaryId: claim.summaryId, startSeq, endSeq };
      deps.logger.debug(`Memory ${claim.summaryId} status updated to completed`, of);
      deps.logger.info(`Summarized messages ${startSeq}-${endSeq} for ${threadId} in ${generationTimeMs}ms`, {
        ...of,
        ...(generationTimeMs !== undefined && { durationMs: generationTimeMs }),
      });
      if (startSeq > 0) deps.logger.info(`Sliding window: dropping seq 0-${startSeq - 1} for ${threadId}`);
      return {};
    },
  });
}

async function claimNow(
  deps: SummaryRuntime,
  { scope, threadId }: ThreadAddress,
): Promise<SummaryClaim | null> {
  if (!(await findThread(deps.db, { scope: parseScope(scope), threadId }))) return null;
  const thread = await record(deps, { scope, threadId, messages: [] });
  if (await isRoundOpen(deps.db, thread.threadRef, [])) return null;
  const start = await startSummary({ ...deps, summaries: deps.config.summaries }, thread, threadId);
  return start.started ? start.claim : null;
}
