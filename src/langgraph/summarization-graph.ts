import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { Annotation, END, isGraphBubbleUp, START, StateGraph } from "@langchain/langgraph";
import type { Database } from "../database/database.js";
import { retryDelayMs } from "../domain/retry-delay.js";
import type { Scope } from "../domain/scope.js";
import { summaryText } from "../domain/summary-text.js";
import { MemoryError } from "../errors.js";
import type { Logger } from "../logger.js";
import type { SummaryOptions } from "../options.js";
import { recall } from "../recall/recall.js";
import { record } from "../remember/record.js";
import type { SummaryClaim } from "../store/claim-summary.js";
import { findSummaryWork, type SummaryWork } from "../store/find-summary-work.js";
import { insertEvent } from "../store/insert-event.js";
import { completeSummary, failSummary, renewSummaryLease } from "../store/settle-summary.js";
import { makeSummary } from "../summarize/make-summary.js";
import { startSummary } from "../summarize/start-summary.js";

/** What the summarization graph works with. */
export interface SummarizationDeps {
  readonly db: Database;
  readonly logger: Logger;
  readonly summaries: SummaryOptions;
  readonly model: () => BaseChatModel;
  /** Told when a failed summary may be tried again. */
  readonly onRetry: (delayMs: number) => void;
}

const SummarizationState = Annotation.Root({
  /** A claimed summary to make. Without one, the thread named by `threadId` and `scope` is summarised now. */
  claim: Annotation<SummaryClaim | null>,
  threadId: Annotation<string>,
  scope: Annotation<Scope>,
  work: Annotation<SummaryWork | null>,
  summary: Annotation<string | null>,
  generationTimeMs: Annotation<number>,
  error: Annotation<string | null>,
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
export function createSummarizationGraph(deps: SummarizationDeps) {
  return new StateGraph(SummarizationState)
    .addNode("load", (state) => load(deps, state))
    .addNode("summarize", (state) => attempt(() => summarize(deps, state)))
    .addNode("validate", (state) => attempt(() => validate(deps, state)))
    .addNode("save", (state) => save(deps, state))
    .addEdge(START, "load")
    .addConditionalEdges("load", (state) => (state.work ? "summarize" : END), ["summarize", END])
    .addEdge("summarize", "validate")
    .addEdge("validate", "save")
    .addEdge("save", END)
    .compile({ checkpointer: false, name: "summarization" });
}

async function load(deps: SummarizationDeps, state: State): Promise<Update> {
  const claim = state.claim ?? (await claimNow(deps, state));
  if (!claim) return { claim: null, work: null, status: "skipped" };
  const work = await findSummaryWork(deps.db, claim);
  return { claim, work, error: null, summary: null, ...(work === null && { status: "lost" as const }) };
}

async function claimNow(deps: SummarizationDeps, { scope, threadId }: State): Promise<SummaryClaim | null> {
  const { lastSeq } = await recall(deps.db, { scope, threadId });
  if (lastSeq < 0) return null;
  const thread = await record(deps.db, { scope, threadId, messages: [] }, deps.summaries.windowMessages);
  const start = await startSummary(deps, thread, threadId);
  return start.started ? start.claim : null;
}

async function summarize(deps: SummarizationDeps, { claim, work }: State): Promise<Update> {
  if (!claim || !work) return {};
  const startedAt = performance.now();
  const renewLease = async () => {
    if (!(await renewSummaryLease(deps.db, claim, deps.summaries.leaseMs))) {
      throw new MemoryError("CONFLICT", "Another worker took this summary over.");
    }
  };
  const summary = await makeSummary(deps.model(), work, deps.summaries, renewLease);
  return { summary, generationTimeMs: Math.round(performance.now() - startedAt) };
}

async function validate(deps: SummarizationDeps, { summary, error }: State): Promise<Update> {
  return error ? {} : { summary: summaryText(summary ?? "", deps.summaries.maxCharacters) };
}

async function save(deps: SummarizationDeps, state: State): Promise<Update> {
  const { claim, work, summary, error, generationTimeMs } = state;
  if (!claim || !work) return { status: "lost" };
  if (error !== null || summary === null) return saveFailure(deps, claim, work, error ?? "no summary");

  if (!(await completeSummary(deps.db, claim, { text: summary, generationTimeMs })))
    return { status: "lost" };
  const { startSeq, endSeq, threadId, scope } = work;
  deps.logger.debug(`Memory ${claim.summaryId} status updated to completed`);
  deps.logger.info(`Summarized messages ${startSeq}-${endSeq} for ${threadId} in ${generationTimeMs}ms`);
  if (startSeq > 0) deps.logger.info(`Sliding window: dropping seq 0-${startSeq - 1} for ${threadId}`);
  await insertEvent(deps.db, { scope, threadId, node: "summarize", op: "create", status: "ok" });
  return { status: "completed" };
}

async function saveFailure(
  deps: SummarizationDeps,
  claim: SummaryClaim,
  work: SummaryWork,
  error: string,
): Promise<Update> {
  const again = claim.attempt < deps.summaries.maxAttempts;
  const delayMs = again ? retryDelayMs(claim.attempt, deps.summaries.retryDelayMs) : null;
  if (!(await failSummary(deps.db, claim, { error, retryDelayMs: delayMs }))) return { status: "lost" };
  const { scope, threadId, startSeq, endSeq } = work;
  deps.logger.debug(`Memory ${claim.summaryId} status updated to failed`);
  deps.logger.warn(
    `Summarizing messages ${startSeq}-${endSeq} for ${threadId} failed: ${error} ` +
      `The previous summary stays in use; ${delayMs === null ? "no further try" : `next try in ${delayMs} ms`}.`,
  );
  const detail = error.slice(0, 200);
  await insertEvent(deps.db, { scope, threadId, node: "summarize", op: "create", status: "error", detail });
  if (delayMs !== null) deps.onRetry(delayMs);
  return { status: "failed" };
}

/** `step`'s update, or its error as state, so that `save` records it. */
async function attempt(step: () => Promise<Update>): Promise<Update> {
  try {
    return await step();
  } catch (error) {
    if (isGraphBubbleUp(error)) throw error;
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
