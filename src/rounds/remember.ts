import { type RecordInput, record } from "../conversation/record.js";
import { episodeRange, episodeRule } from "../episodes/episode-text.rule.js";
import { markTask, type ThreadTask } from "../jobs/thread-task.js";
import type { MemoryOptions } from "../memories/item/memory-options.js";
import { leavesNotes } from "../notes/notes-options.js";
import type { Runtime } from "../runtime.js";
import type { SummaryClaim } from "../summaries/claim-summary.js";
import { isRoundOpen, startSummary } from "../summaries/start-summary.js";
import type { SummaryOptions, SummarySkipReason, SummaryWindow } from "../summaries/summary-window.rule.js";

/** What the end of a round did. */
export interface Remembered {
  /** How many messages were new to the transcript. */
  readonly recorded: number;
  readonly lastSeq: number;
  /** The summary that was started, or why none was. */
  readonly summary:
    | { readonly started: true; readonly claim: SummaryClaim; readonly window: SummaryWindow }
    | { readonly started: false; readonly reason: SummarySkipReason | "no_model" | "round_open" };
}

/** Background work on a thread that a round made due. */
export interface DueTask {
  readonly threadRef: number;
  readonly task: ThreadTask;
  /** In how many ms; not before. @default now */
  readonly inMs?: number;
}

/**
 * Ends a round: records its messages and, when it is time, claims the next summary window and marks the
 * extraction of facts, the compression of older turns and an ended conversation's note as due.
 *
 * One round trip, one more when a summary starts, and one more when turns are to be compressed. Doing the work
 * is the caller's business.
 */
export async function remember(
  deps: Runtime<{
    readonly memories: MemoryOptions;
    readonly summaries: SummaryOptions;
    readonly notes: { readonly limit: number; readonly idleMs: number };
  }>,
  input: RecordInput,
): Promise<{ remembered: Remembered; due: DueTask[] }> {
  const { memories, summaries, notes } = deps.config;
  const extract = deps.hasModel && memories.extract;
  const note = deps.hasModel && leavesNotes(notes);
  const thread = await record(deps, input, {
    extract: extract
      ? { messages: memories.extractAfterMessages, idleMs: memories.extractIdleMs }
      : undefined,
    note: note ? notes : undefined,
  });
  const { recorded, lastSeq, threadRef, extractInMs } = thread;
  const due: DueTask[] =
    extractInMs === null ? [] : [{ threadRef, task: "extract", inMs: Math.max(0, extractInMs) }];
  if (note && thread.closed && input.scope.appId !== undefined) due.push({ threadRef, task: "note" });
  const ended = (summary: Remembered["summary"]) => ({ remembered: { recorded, lastSeq, summary }, due });
  if (!deps.hasModel) return ended({ started: false, reason: "no_model" });
  if (await isRoundOpen(deps.db, threadRef, thread.messages))
    return ended({ started: false, reason: "round_open" });

  if (memories.episodes && episodeRange(thread.turns, thread.compressedTurns, episodeRule(memories))) {
    await markTask(deps.db, { threadRef, task: "compress" });
    due.push({ threadRef, task: "compress" });
  }
  return ended(await startSummary({ ...deps, summaries }, thread, input.threadId));
}
