import { episodeRange, episodeRule } from "../episodes/episode-text.rule.js";
import type { MemoriesSettings } from "../memories/item/memories-settings.js";
import { leavesNotes } from "../notes/notes-options.js";
import { insertEvent } from "../observability/events/event-log.js";
import type { Runtime } from "../runtime.js";
import { isDelegatedThread } from "../scope/scope.js";
import { isTurnOpen, type SummaryStart, startSummary } from "../summaries/start-summary.js";
import type { SummaryOptions } from "../summaries/summary-window.rule.js";
import type { RecordConfig, RecordedTurn, RecordInput } from "../transcript/record.js";
import type { Job } from "../work/work-kinds.rule.js";
import { markWork } from "../work/work-table.js";
import { recordTurn } from "./edited-messages.js";

export interface Remembered {
  readonly recorded: number;
  readonly lastSeq: number;
  readonly summary: SummaryStart | { readonly started: false; readonly reason: UnstartedReason };
}

type UnstartedReason = "no_model" | "round_open" | "delegated" | "others_summary";

export type DueJob = Job & { readonly inMs?: number };

type RememberRuntime = Runtime<{
  readonly memories: MemoriesSettings;
  readonly summaries: SummaryOptions;
  readonly notes: { readonly limit: number; readonly idleMs: number };
  readonly retrieval: RecordConfig["retrieval"];
  readonly lifecycle: { readonly purgeAfterMs: number };
}>;

/**
 * One round trip, one more for a summary, and one more for an episode. The caller starts the work
 * in `due`.
 */
export async function remember(
  deps: RememberRuntime,
  input: RecordInput,
): Promise<{ remembered: Remembered; due: DueJob[]; isNewThread: boolean; threadRef: number }> {
  const { memories, notes } = deps.config;
  const extract = deps.hasModel && memories.extract;
  const note = deps.hasModel && leavesNotes(notes);

  // Record: one statement appends the messages, marks facts and notes as due, counts what the turn
  // was shown as used, and keeps it.
  const thread = await recordTurn(deps, input, {
    extract: extract
      ? { messages: memories.extractAfterMessages, idleMs: memories.extractIdleMs }
      : undefined,
    note: note ? notes : undefined,
  });
  const { recorded, lastSeq, threadRef: ref, extractInMs } = thread;

  // Mark an episode as due once the turn is whole.
  const waits = await waitReason(deps, input, thread);
  const hasEpisode = waits === null && isEpisodeDue(memories, thread);
  if (hasEpisode) await markWork(deps.db, { kind: "episodes", of: "thread", ref });

  // Claim a summary, if one is due.
  const summary: Remembered["summary"] =
    waits === null ? await claimDueSummary(deps, input, thread) : { started: false, reason: waits };

  // Name what the caller starts now. Facts first: the others omit what the user wants forgotten.
  const due: DueJob[] = [];
  if (extractInMs !== null) due.push({ kind: "facts", ref, inMs: Math.max(0, extractInMs) });
  if (summary.started) due.push({ kind: "summaries", ref });
  if (note && thread.closed && input.scope.appId !== undefined) due.push({ kind: "notes", ref });
  if (hasEpisode) due.push({ kind: "episodes", ref });
  return {
    remembered: { recorded, lastSeq, summary },
    due,
    threadRef: ref,
    // A new thread ends the wait for messages of the owner's other threads.
    isNewThread: thread.turns === 1 && recorded > 0,
  };
}

/** Null once the turn is whole and has a model to work for it. */
async function waitReason(
  { db, hasModel }: RememberRuntime,
  { threadId }: RecordInput,
  { threadRef, messages }: RecordedTurn,
): Promise<UnstartedReason | null> {
  if (!hasModel) return "no_model";
  if (isDelegatedThread(threadId)) return "delegated";
  return (await isTurnOpen(db, threadRef, messages)) ? "round_open" : null;
}

function isEpisodeDue(
  memories: MemoriesSettings,
  { turns, compressedTurns }: RecordedTurn,
): boolean {
  return memories.episodes && episodeRange(turns, compressedTurns, episodeRule(memories)) !== null;
}

async function claimDueSummary(deps: RememberRuntime, input: RecordInput, thread: RecordedTurn) {
  if (await noteOthersSummary(deps, input, thread))
    return { started: false, reason: "others_summary" } as const;
  return startSummary({ ...deps, summaries: deps.config.summaries }, thread, input.threadId);
}

async function noteOthersSummary(
  { db, logger }: Runtime,
  { scope, threadId }: RecordInput,
  { summarisedByOthers: since }: RecordedTurn,
): Promise<boolean> {
  if (since !== "now") return since !== null;
  logger.info(
    `Thread ${threadId} is summarised by LangChain's summarizationMiddleware, and from now on not by memory.`,
    { threadId, step: "summaries" },
  );
  const event = { step: "summaries", op: "create", status: "skipped" } as const;
  await insertEvent(db, { ...event, scope, threadId, detail: "others_summary" });
  return true;
}
