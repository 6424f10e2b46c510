import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { findConversation } from "../conversation/find-conversation.js";
import { record } from "../conversation/record.js";
import { MemoryError } from "../errors.js";
import { insertEvent } from "../events/event-log.js";
import { attemptStep } from "../jobs/attempt-step.js";
import { type Failure, failureLine, retryDelayMs, toFailure } from "../jobs/settle-failure.js";
import { parseScope, type Scope } from "../scope/scope.js";
import { completeSummary, failSummary, renewSummaryLease, type SummaryClaim } from "./claim-summary.js";
import { findSummaryWork, limitSummary, type SummaryWork } from "./find-summary-work.js";
import { makeSummary } from "./make-summary.js";
import { isRoundOpen, startSummary } from "./start-summary.js";
import type { SummaryRuntime } from "./summary-options.js";
import { summaryText } from "./summary-text.js";

const SummarizationState = Annotation.Root({
  /** A claimed summary to make. Without one, the thread named by `threadId` and `scope` is summarised now. */
  claim: Annotation<SummaryClaim | null>,
  threadId: Annotation<string>,
  scope: Annotation<Scope>,
  work: Annotation<SummaryWork | null>,
  summary: Annotation<string | null>,
  /** Sentences left out of it, since they read as instructions to a model. */
  dropped: Annotation<number>,
  generationTimeMs: Annotation<number>,
  error: Annotation<Failure | null>,
  /** How it ended: "lost" when another worker took over meanwhile. */
  status: Annotation<"completed" | "failed" | "skipped" | "lost">,
});

type State = typeof SummarizationState.State;
type Update = typeof SummarizationState.Update;

/**
 * The graph that makes one summary: load → summarize → validate → save.
 *
 * It keeps no checkpoints, since the `processing` row is its record, and holds no connection while the
 * model works. A model's failure ends in a `failed` row; the summaries before it stay as they are.
 */
export function createSummarizationGraph(deps: SummaryRuntime) {
  return new StateGraph(SummarizationState)
    .addNode("load", (state) => load(deps, state))
    .addNode("summarize", (state) => attemptStep(() => summarize(deps, state)))
    .addNode("validate", (state) => attemptStep(() => validate(deps, state)))
    .addNode("save", (state) => save(deps, state))
    .addEdge(START, "load")
    .addConditionalEdges("load", (state) => (state.work ? "summarize" : END), ["summarize", END])
    .addEdge("summarize", "validate")
    .addEdge("validate", "save")
    .addEdge("save", END)
    .compile({ checkpointer: false, name: "summarization" });
}

async function load(deps: SummaryRuntime, state: State): Promise<Update> {
  const claim = state.claim ?? (await claimNow(deps, state));
  if (!claim) return { claim: null, work: null, status: "skipped" };
  const fresh: Update = { claim, work: null, error: null, summary: null };
  try {
    const due = await findSummaryWork(deps.db, claim);
    const work = due && (await limitSummary(deps, due, deps.config.summaries));
    return { ...fresh, work, ...(work === null && { status: "lost" }) };
  } catch (cause) {
    return { ...fresh, ...(await saveFailure(deps, claim, null, toFailure(cause))) };
  }
}

async function claimNow(deps: SummaryRuntime, { scope, threadId }: State): Promise<SummaryClaim | null> {
  if (!(await findConversation(deps.db, { scope: parseScope(scope), threadId }))) return null;
  const thread = await record(deps, { scope, threadId, messages: [] });
  if (await isRoundOpen(deps.db, thread.threadRef, [])) return null;
  const start = await startSummary({ ...deps, summaries: deps.config.summaries }, thread, threadId);
  return start.started ? start.claim : null;
}

async function summarize(deps: SummaryRuntime, { claim, work }: State): Promise<Update> {
  if (!claim || !work) return {};
  const startedAt = performance.now();
  const renewLease = async () => {
    if (!(await renewSummaryLease(deps.db, claim, deps.config.summaries.leaseMs))) {
      throw new MemoryError("LEASE_LOST", "Another worker took this summary over.");
    }
  };
  const { text: summary, dropped } = await makeSummary(deps.model(), work, deps.config.summaries, renewLease);
  return { summary, dropped, generationTimeMs: Math.round(performance.now() - startedAt) };
}

async function validate(deps: SummaryRuntime, { summary, error }: State): Promise<Update> {
  if (error) return {};
  const { text } = summaryText(summary ?? "", deps.config.summaries.maxCharacters);
  return { summary: await deps.redactor.text(text) };
}

async function save(deps: SummaryRuntime, state: State): Promise<Update> {
  const { claim, work, summary, dropped, error, generationTimeMs } = state;
  if (!claim || !work) return { status: "lost" };
  if (error !== null || summary === null) return saveFailure(deps, claim, work, error ?? noSummary);

  const { startSeq, endSeq, threadId, scope } = work;
  const result = { text: summary, generationTimeMs, window: { startSeq, endSeq } };
  try {
    if (!(await completeSummary(deps.db, claim, result))) return { status: "lost" };
  } catch (cause) {
    return saveFailure(deps, claim, work, toFailure(cause));
  }
  deps.logger.debug(`Memory ${claim.summaryId} status updated to completed`);
  deps.logger.info(`Summarized messages ${startSeq}-${endSeq} for ${threadId} in ${generationTimeMs}ms`);
  if (startSeq > 0) deps.logger.info(`Sliding window: dropping seq 0-${startSeq - 1} for ${threadId}`);
  const detail = dropped > 0 ? "instruction" : undefined;
  await insertEvent(deps.db, { scope, threadId, step: "summarize", op: "create", status: "ok", detail });
  return { status: "completed" };
}

async function saveFailure(
  deps: SummaryRuntime,
  claim: SummaryClaim,
  work: SummaryWork | null,
  failure: Failure,
): Promise<Update> {
  const again = claim.attempt < deps.config.summaries.maxAttempts;
  const delayMs = again ? retryDelayMs(claim.attempt, deps.config.summaries.retryDelayMs) : null;
  if (!(await failSummary(deps.db, claim, { error: failure.message, retryDelayMs: delayMs })))
    return { status: "lost" };
  const what = work ? `messages ${work.startSeq}-${work.endSeq} for ${work.threadId}` : "messages";
  deps.logger.debug(`Memory ${claim.summaryId} status updated to failed`);
  deps.logger.warn(
    `Summarizing ${what} failed: ${failureLine(failure, deps.config.telemetry)} ` +
      `The previous summary stays in use; ${delayMs === null ? "no further try" : `next try in ${delayMs} ms`}.`,
  );
  // Not the message: some providers quote the prompt in theirs.
  const event = { step: "summarize", op: "create", status: "error", detail: failure.code } as const;
  if (work) await insertEvent(deps.db, { scope: work.scope, threadId: work.threadId, ...event });
  if (delayMs !== null) deps.onRetry(delayMs);
  return { status: "failed" };
}

const noSummary: Failure = {
  code: "UNEXPECTED",
  message: "The graph ended without a summary.",
  words: null,
  output: null,
};
