import type { BaseMessage } from "@langchain/core/messages";
import { dayMs } from "../clock.js";
import { MemoryError } from "../errors.js";
import { opensTurn } from "../messages/inserted-message.js";
import { storedMessage } from "../messages/message-codec.js";
import type { TranscriptMessage } from "../messages/message-text.js";
import { appNotes } from "../notes/notes-options.js";
import { closeEdited } from "../remember/edited-messages.js";
import { isDelegatedThread, threadForbidden } from "../scope/scope.js";
import { questionVector } from "../search/read-question.js";
import type { SummaryOptions } from "../summaries/summary-window.rule.js";
import { dayIn, startOfDay, zoneClock } from "../text/time-zone.js";
import type { Conversation } from "../transcript/find-conversation.js";
import { recentMessages } from "../transcript/recent-messages.rule.js";
import { findRecall, type RecallResult } from "./find-recall.js";
import { fitBudget } from "./fit-budget.js";
import {
  type RecallInput,
  type RecallRequest,
  type RecallRuntime,
  readRequest,
} from "./recall-request.js";
import { type DayOf, type Recalled, shownIn } from "./recalled.js";
import { isNewsGone, selectMemories } from "./select-memories.js";

/**
 * Finds what a turn's prompt shows, in one round trip after the embedding; creates no thread. An
 * epoch is a run of turns whose prompts only grow; to fold is to begin a new one. A search stops
 * after `retrieval.timeoutMs`; a second round trip then reads everything else. `isForTask`: only
 * what is always shown, for an agent that sees a task and nothing of the conversation.
 * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`, `THREAD_FORBIDDEN` for another scope's
 * thread
 */
export async function recall(
  deps: RecallRuntime,
  input: RecallInput,
  isForTask = false,
): Promise<Recalled> {
  const startedAt = performance.now();
  const request = await readRequest(deps, input, isForTask);

  // Find: one query reads the conversation, what is always shown, and candidates.
  const first = await findAfterEdits(deps, request);
  // Null: another scope's thread; a new one has an empty conversation.
  if (first.found.conversation === null) throw threadForbidden(request.threadId);

  // Rank, select, cut: what of that the turn shows.
  let recalled = await recalledOf(deps, request, first);

  // Fold, seldom: the epoch shows what must not be shown any more, or has no room for what is more
  // important. A second query, without the epoch's bytes, opens a new one.
  if (mustFold(first.found, recalled)) {
    const folded = await findInTime(deps, {
      ...request,
      limits: { ...request.limits, epochBytes: null },
    });
    recalled = await recalledOf(deps, request, folded);
  }

  reportNotes(deps, request, recalled);

  // Plan, print: nodes, middleware and `promptFor` do it where they make their prompt, by
  // `turnMessages` or `memoryBlock`.
  const recallMs = performance.now() - startedAt;
  return { ...recalled, epoch: { ...recalled.epoch, recallMs } };
}

/**
 * Finds; if the user has edited messages, hides the memories that rest on their old words and finds
 * again.
 */
async function findAfterEdits(deps: RecallRuntime, request: RecallRequest) {
  const first = await findInTime(deps, request);
  const edits = (first.found.conversation?.edited ?? []).map((messageId) => ({
    messageId,
    words: request.words.get(messageId) ?? "",
  }));
  if (edits.length === 0 || !(await closeEdited(deps, request, edits))) return first;
  return findInTime(deps, request);
}

/** What was found, ranked, selected and cut to the budget. */
async function recalledOf(
  deps: RecallRuntime,
  request: RecallRequest,
  { found, question, timedOut }: Awaited<ReturnType<typeof findInTime>>,
): Promise<Recalled> {
  const { retrieval, notes, summaries } = deps.config;
  const { scope, threadId, mode, reader, held, words, timeZone } = request;

  // Rank the candidates and select, for each part, what fits the question and the categories.
  const { memories, asked, earlier, told, added } = await selectMemories(deps, question, found);

  // A task says all that its agent needs; earlier tasks are others'.
  const known = isDelegatedThread(threadId) ? null : found.conversation;
  const { epoch, firstSeq, edited, said, ...conversation } = known ?? emptyConversation;
  const talk = messagesShown(conversation, held, summaries);
  const day = dayIn(deps.clock(), timeZone);
  const days = mode === "passive" ? [] : daysBefore(day, talk, said, timeZone);
  const shownBefore = new Set(earlier.flatMap(({ consents }) => consents.map(({ id }) => id)));
  const recalled: Recalled = {
    mode,
    ...conversation,
    ...talk,
    ...(held.size > 0 && { edited: edited.flatMap((id) => held.get(id) ?? []), words }),
    epoch: {
      isNew: epoch === null,
      openedBy: epoch?.lines[0]?.[0],
      openedAt: epoch?.openedAt,
      firstSeq,
      earlier,
      told,
      asked: found.consents.filter(({ id }) => shownBefore.has(id)),
      added,
      readable: reader,
      prefixes: new Set(),
      handed: {
        seqs: new Map([...conversation.recent, ...conversation.gap].map(seqById)),
        hasChecks: !deps.redactor.redacts,
        shortenedTo: summaries.keepRecentTokens,
      },
    },
    memories: { ...memories, ...(timedOut && { timedOut }) },
    ...(scope.appId !== undefined &&
      found.notes.length > 0 && { appName: appNotes(notes, scope.appId).name }),
    changes: {
      since: found.revSeen,
      // Changes that are not shown stay unseen.
      revision: mode === "passive" ? found.revSeen : found.revision,
      count: found.changeCount,
      top: found.changes,
    },
    consents: found.consents.filter(({ id }) => !shownBefore.has(id)),
    unread: found.unread,
    day,
    days: epoch === null ? days : days.slice(-1),
    timeZone,
  };

  // Cut: line by line, most important first.
  return fitBudget(recalled, retrieval.budgetTokens, asked);
}

const seqById = ({ messageId, seq }: TranscriptMessage) => [messageId, seq] as const;

function reportNotes({ logger }: RecallRuntime, request: RecallRequest, recalled: Recalled): void {
  const { appId } = request.scope;
  const notes = recalled.memories.notes.length;
  if (appId === undefined || notes === 0) return;
  const fields = { threadId: request.threadId, step: "recall", appId, notes };
  logger.info(`🧠 Retrieved ${notes} memories for app ${appId}`, fields);
}

/**
 * Whether an open epoch has to end: what it told is gone, it shows a value without what replaced
 * it, or a memory without the doubt about it, or what became known since is over budget and more important than what it shows.
 */
function mustFold(found: RecallResult, { epoch, changes, memories }: Recalled): boolean {
  const opened = found.conversation?.epoch;
  if (!opened) return false;
  if (isNewsGone(found)) return true;
  const shownIds = new Set(opened.lines.map(([, id]) => id ?? ""));
  const told = [...found.told.flatMap((turn) => turn.changes), ...changes.top];
  const replacedIds = new Set(told.map(({ insteadId }) => insteadId));
  const doubtedIds = new Set(
    told.filter(({ isDoubted }) => isDoubted).map(({ memoryId }) => memoryId),
  );
  const lines = shownIn(memories).concat(epoch.earlier.flatMap((turn) => turn.memories));
  for (const { memory } of lines) if (memory.doubtedAt !== null) doubtedIds.add(memory.id);
  for (const id of shownIds) {
    const memory = found.shown.get(id);
    if (memory?.state === "superseded" && !replacedIds.has(id)) return true;
    if (memory && memory.doubtedAt !== null && !doubtedIds.has(id)) return true;
  }

  if (epoch.added.omitted === 0) return false;
  const minShown = found.profile.findLastIndex(({ id }) => shownIds.has(id));
  for (const { id } of epoch.added.profile) shownIds.add(id);
  return found.profile
    .slice(0, minShown + 1)
    .some(({ id, updatedAt }) => !shownIds.has(id) && updatedAt.getTime() > opened.openedAt);
}

/** The messages that are shown word for word: the caller's own, else the stored ones. */
function messagesShown(
  { gap, recent, lastTurn, omitted }: Pick<Conversation, "gap" | "recent" | "lastTurn" | "omitted">,
  held: ReadonlyMap<string, BaseMessage>,
  { keepRecentMessages, keepRecentTokens }: SummaryOptions,
): Pick<Recalled, "gap" | "recent" | "shortened" | "lastTurn"> {
  const shown = (stored: readonly TranscriptMessage[]) =>
    stored.map((message) => held.get(message.messageId) ?? storedMessage(message));
  const covered = shown(keepRecentMessages === 0 || omitted ? [] : recent);
  const { messages, shortened } = recentMessages(covered, keepRecentTokens);
  return { gap: shown(gap), recent: messages, shortened, lastTurn: shown(lastTurn) };
}

/** As many as a turn may be noted with. */
const mostDays = 100;

/** The days of the messages that are shown word for word; none if all are of `today`. */
function daysBefore(
  today: string,
  shown: Pick<Recalled, "recent" | "gap">,
  said: Conversation["said"],
  timeZone: string,
): DayOf[] {
  const asked = [...shown.recent, ...shown.gap].filter(opensTurn);
  const askedIds = new Set(asked.map(({ id }) => id));
  const clock = zoneClock(timeZone);
  const days: DayOf[] = [];
  let [from, before] = [new Date(0), new Date(0)];
  for (const [messageId, saidAt] of said) {
    const at = new Date(saidAt);
    // The clock of a time zone is slow: it is read once a day.
    if (!askedIds.has(messageId) || (at >= from && at < before)) continue;
    const day = dayIn(at, timeZone);
    days.push([messageId, day]);
    const startMs = Date.parse(day);
    [from, before] = [startOfDay(startMs, clock), startOfDay(startMs + dayMs, clock)];
  }
  return days.every((each) => each[1] === today) ? [] : days.slice(-mostDays);
}

const emptyConversation: Conversation = {
  said: [],
  summary: null,
  processing: null,
  gap: [],
  omitted: null,
  recent: [],
  lastTurn: [],
  lastSeq: -1,
  lastMessageId: null,
  epoch: null,
  firstSeq: 0,
  edited: [],
};

async function findInTime(deps: RecallRuntime, request: RecallRequest) {
  const { scope, threadId, isForTask } = request;
  const { timeoutMs } = deps.config.retrieval;
  try {
    const question = { ...request.question, vector: await questionVector(deps, request.query) };
    const found = await findRecall(deps.db, { ...request, question }, timeoutMs);
    return { found: isForTask ? { ...found, rest: [] } : found, question, timedOut: false };
  } catch (error) {
    if (request.search === null || !MemoryError.is(error, "DATABASE_TIMEOUT")) throw error;
  }
  const found = await findRecall(deps.db, { ...request, search: null }, timeoutMs);
  deps.logger.warn(
    `recall found nothing for the question within ${timeoutMs} ms and goes on without`,
  );
  const event = { step: "recall", op: "search", status: "error", detail: "timeout" } as const;
  await deps.record({ scope, threadId, ...event });
  return { found, question: request.question, timedOut: true };
}
