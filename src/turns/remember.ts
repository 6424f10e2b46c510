import type { RecordConfig, RecordedTurn, RecordInput } from "../conversation/record.js";
import { recordTurn } from "../edits/record-turn.js";
import { episodeRange, episodeRule } from "../episodes/episode-text.rule.js";
import { insertEvent } from "../events/event-log.js";
import type { Job } from "../jobs/work-kinds.rule.js";
import { markWork } from "../jobs/work-table.js";
import type { MemoryOptions } from "../memories/item/memory-options.js";
import { leavesNotes } from "../notes/notes-options.js";
import type { Runtime } from "../runtime.js";
import { isDelegatedThread } from "../scope/scope.js";
import { isTurnOpen, startSummary } from "../summaries/start-summary.js";
import type {
  SummaryOptions,
  SummarySkipReason,
  SummaryWindow,
} from "../summaries/summary-window.rule.js";

export interface Remembered {
  readonly recorded: number;
  readonly lastSeq: number;
  readonly summary:
    | { readonly started: true; readonly summaryId: number; readonly window: SummaryWindow }
    | { readonly started: false; readonly reason: SummarySkipReason | UnstartedReason };
}

type UnstartedReason = "no_model" | "round_open" | "delegated" | "others_summary";

export type DueJob = Job & { readonly inMs?: number };

/**
 * One round trip, one more for a summary, and one more for an episode. The caller starts the work
 * in `due`.
 */
export async function remember(
  deps: Runtime<{
    readonly memories: MemoryOptions;
    readonly summaries: SummaryOptions;
    readonly notes: { readonly limit: number; readonly idleMs: number };
    readonly retrieval: RecordConfig["retrieval"];
    readonly lifecycle: { readonly purgeAfterMs: number };
  }>,
  input: RecordInput,
): Promise<{ remembered: Remembered; due: DueJob[]; isNewThread: boolean; threadRef: number }> {
  const { memories, summaries, notes } = deps.config;
  const extract = deps.hasModel && memories.extract;
  const note = deps.hasModel && leavesNotes(notes);
  const thread = await recordTurn(deps, input, {
    extract: extract
      ? { messages: memories.extractAfterMessages, idleMs: memories.extractIdleMs }
      : undefined,
    note: note ? notes : undefined,
  });
  const { recorded, lastSeq, threadRef, extractInMs } = thread;
  // First: the others omit what the user wants forgotten.
  const facts: DueJob[] =
    extractInMs === null ? [] : [{ kind: "facts", ref: threadRef, inMs: Math.max(0, extractInMs) }];
  const due: DueJob[] = [];
  if (note && thread.closed && input.scope.appId !== undefined)
    due.push({ kind: "notes", ref: threadRef });
  const ended = (summary: Remembered["summary"]) => ({
    remembered: { recorded, lastSeq, summary },
    due: [...facts, ...due],
    // A new thread ends the wait for messages of the owner's other threads.
    threadRef,
    isNewThread: thread.turns === 1 && recorded > 0,
  });
  const unmade = deps.hasModel ? isDelegatedThread(input.threadId) && "delegated" : "no_model";
  if (unmade) return ended({ started: false, reason: unmade });
  if (await isTurnOpen(deps.db, threadRef, thread.messages))
    return ended({ started: false, reason: "round_open" });

  if (
    memories.episodes &&
    episodeRange(thread.turns, thread.compressedTurns, episodeRule(memories))
  ) {
    await markWork(deps.db, { kind: "episodes", of: "thread", ref: threadRef });
    due.push({ kind: "episodes", ref: threadRef });
  }
  if (await isSummarisedByOthers(deps, input, thread))
    return ended({ started: false, reason: "others_summary" });
  const start = await startSummary({ ...deps, summaries }, thread, input.threadId);
  if (!start.started) return ended(start);
  const { summaryId, window, claim } = start;
  due.unshift({ kind: "summaries", ref: threadRef, lease: claim.lease });
  return ended({ started: true, summaryId, window });
}

async function isSummarisedByOthers(
  { db, logger }: Runtime,
  { scope, threadId }: RecordInput,
  { summarisedByOthers: since }: RecordedTurn,
): Promise<boolean> {
  if (since !== "now") return since !== null;
  logger.info(
    `Thread ${threadId} is summarised by LangChain's summarizationMiddleware, and from now on not by memory.`,
    { threadId, step: "summarize" },
  );
  const event = {
    step: "summarize",
    op: "create",
    status: "skipped",
    detail: "others_summary",
  } as const;
  await insertEvent(db, { ...event, scope, threadId });
  return true;
}
