import type { BaseMessage } from "@langchain/core/messages";
import { z } from "zod";
import { type ContextOptions, type Preset, readLimits } from "../conversation/context-options.js";
import type { Conversation } from "../conversation/find-conversation.js";
import { recentMessages } from "../conversation/recent-messages.rule.js";
import { closeEdited } from "../edits/edited-messages.js";
import { MemoryError } from "../errors.js";
import { type CategoryPolicy, readableCategories } from "../memories/item/category.rule.js";
import { appNotes, type NotesOptions } from "../notes/notes-options.js";
import type { Runtime } from "../runtime.js";
import {
  isDelegatedThread,
  parseAddressed,
  scopeField,
  type ThreadAddress,
  threadField,
  threadForbidden,
} from "../scope/scope.js";
import { minTrustField, noFilter, withTrust } from "../search/memory-filter.rule.js";
import { defaultKinds } from "../search/query-memories.js";
import { type EmbeddedQuestion, questionVector, readQuestion } from "../search/read-question.js";
import {
  type RecallMode,
  recallModeSchema,
  type SearchRuntime,
} from "../search/retrieval-options.js";
import type { SummaryOptions } from "../summaries/summary-window.rule.js";
import { storedMessage } from "../text/message-codec.js";
import type { TranscriptMessage } from "../text/message-text.js";
import { headOf, isStorable } from "../text/storable-text.js";
import { dayIn, timeZoneField } from "../text/time-zone.js";
import { findRecall, type RecallResult, type RecallSearch } from "./find-recall.js";
import { fitBudget } from "./fit-budget.js";
import { readHeld } from "./held-words.js";
import { partOf, type Recalled } from "./recalled.js";
import { isNewsGone, selectMemories } from "./select-memories.js";
import { durations } from "./shown-by.js";

/** The newest ones identify a branch. */
export const mostMessageIds = 10_000;

const inputSchema = z.strictObject({
  scope: scopeField,
  threadId: threadField,
  /**
   * The user's current words, up to 10,000 characters.
   * @default none: shows the most important memories
   */
  query: z.string().optional(),
  /** The user's, for days in `query` and in the prompt: "Europe/Lisbon". @default retrieval.timeZone */
  timeZone: timeZoneField.optional(),
  /** Recalls only this agent's categories. @default no restriction */
  agent: z.string().optional(),
  /** Recalls only memories of at least this trust; the conversation stays. @default any */
  minTrust: minTrustField,
  /**
   * Ids of one branch: selects the latest summary that ends with one of them, or before all of
   * them.
   */
  messageIds: z.array(z.string()).max(mostMessageIds).readonly().optional(),
  /** "passive": the conversation alone, no memories. @default "active" */
  mode: recallModeSchema.optional(),
  /** The caller's messages, which replace the transcript's by id. @default none */
  state: z
    .array(z.custom<BaseMessage>((value) => typeof value === "object" && value !== null))
    .readonly()
    .optional(),
});

export interface RecallInput
  extends ThreadAddress,
    Omit<z.input<typeof inputSchema>, keyof ThreadAddress> {}

const mostCharacters = 10_000;
/** Nobody would read more lines. */
const shownChanges = 3;
/** A short profile line: "- tea: green". */
const fewestSlotTokens = 5;
/**
 * A usual fallback line: "- [relationships] The user's sister Clara lives in Utrecht and draws
 * plans."
 */
const fewTokens = 25;
/** No user answers more questions. */
const shownConsents = 3;
/** The budget cuts them: in an outage of its model, extraction reads none for hours. */
const shownUnread = 30;

type RecallRuntime = SearchRuntime &
  Runtime<{
    readonly summaries: SummaryOptions;
    readonly preset: Preset;
    readonly context: ContextOptions;
    readonly notes: NotesOptions;
    readonly consent: { readonly ask: string };
    readonly lifecycle: { readonly purgeAfterMs: number };
  }>;

/**
 * Everything for a turn, in one round trip after the embedding; creates no thread. A search stops
 * after two seconds; a second round trip then reads everything else. `isForTask`: only what is always
 * shown, for an agent that sees a task and nothing of the conversation.
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

  // Find: one statement reads the conversation, what is always shown, and candidates.
  const first = await findUnedited(deps, request);
  if (first.found.conversation === null) throw threadForbidden(request.threadId);

  // Rank, select, cut: what of that the turn shows.
  let recalled = await recalledOf(deps, request, first);

  // Fold, seldom: the epoch shows what must not be shown any more, or has no room for what is more
  // important. A second statement opens a new one.
  if (mustFold(first.found, recalled)) {
    const folded = await findInTime(deps, { ...request, isFolded: true });
    recalled = await recalledOf(deps, request, folded);
  }

  reportNotes(deps, request, recalled);
  durations.set(recalled.epoch, performance.now() - startedAt);

  // Plan, print: each way in does it where it makes its prompt, by `turnMessages` or `memoryBlock`.
  return recalled;
}

/** Whose memory a turn recalls, for which words, and what its caller holds. */
interface RecallRequest
  extends Pick<RecallInput, "scope" | "threadId" | "messageIds" | "minTrust"> {
  readonly mode: RecallMode;
  readonly query: string;
  readonly question: EmbeddedQuestion;
  readonly timeZone: string;
  readonly categories: readonly string[];
  /** Each reader has epochs of its own. */
  readonly reader: readonly string[];
  /** The caller's messages by id, and what users and assistants say in them. */
  readonly held: ReadonlyMap<string, BaseMessage>;
  readonly words: ReadonlyMap<string, string>;
  readonly heldIds: readonly string[];
  readonly heldChecks: readonly (number | null)[];
  readonly isForTask: boolean;
  /** Opens an epoch, whatever is shown. */
  readonly isFolded?: boolean;
}

async function readRequest(
  deps: RecallRuntime,
  input: RecallInput,
  isForTask: boolean,
): Promise<RecallRequest> {
  const {
    state = [],
    agent,
    mode = "active",
    ...given
  } = parseAddressed(inputSchema, input, "recall");
  const { policy, retrieval } = deps.config;
  const isPassive = mode === "passive";
  const query = isPassive ? "" : headOf(given.query ?? "", mostCharacters);
  const categories = isPassive ? [] : [...readableCategories(policy, agent ?? null)];
  return {
    ...given,
    mode,
    query,
    question: { ...readQuestion(deps, query, given.timeZone), vector: null },
    timeZone: given.timeZone ?? retrieval.timeZone,
    categories,
    // No category has a space.
    reader: given.minTrust ? [...categories, `trust ${given.minTrust}`] : categories,
    ...(await readHeld(deps.redactor, state)),
    isForTask,
  };
}

/** Seldom twice: what rests on words that the user has edited is closed before it is shown. */
async function findUnedited(deps: RecallRuntime, request: RecallRequest) {
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
  const { memories, asked, earlier, added } = await selectMemories(deps, question, found);

  // A task says all that its agent needs; earlier tasks are others'.
  const known = isDelegatedThread(threadId) ? null : found.conversation;
  const { epoch, firstSeq, edited, ...conversation } = known ?? emptyConversation;
  const shownBefore = new Set(earlier.flatMap(({ consents }) => consents.map(({ id }) => id)));
  const recalled: Recalled = {
    mode,
    ...conversation,
    ...messagesShown(conversation, held, summaries),
    ...(held.size > 0 && { edited: edited.flatMap((id) => held.get(id) ?? []), words }),
    epoch: {
      isNew: epoch === null,
      openedBy: epoch?.lines[0]?.[0],
      firstSeq,
      earlier,
      added,
      addedOmitted: 0,
      readable: reader,
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
    day: dayIn(deps.clock(), timeZone),
    timeZone,
  };

  // Cut: line by line, most important first.
  return fitBudget(recalled, retrieval.budgetTokens, asked);
}

function reportNotes({ logger }: RecallRuntime, request: RecallRequest, recalled: Recalled): void {
  const { appId } = request.scope;
  const notes = recalled.memories.notes.length;
  if (appId === undefined || notes === 0) return;
  const fields = { threadId: request.threadId, step: "recall", appId, notes };
  logger.info(`🧠 Retrieved ${notes} memories for app ${appId}`, fields);
}

/**
 * Whether an open epoch has to end: what it told is gone, it shows a value without what replaced
 * it, or what became known since is over budget and more important than what it shows.
 */
function mustFold(found: RecallResult, { epoch, changes }: Recalled): boolean {
  const opened = found.conversation?.epoch;
  if (!opened) return false;
  if (isNewsGone(found)) return true;
  const shownIds = new Set(opened.lines.map(([, id]) => id ?? ""));
  const told = [...found.told.flatMap((turn) => turn.changes), ...changes.top];
  const replacedIds = new Set(told.map(({ insteadId }) => insteadId));
  for (const id of shownIds)
    if (found.shown.get(id)?.state === "superseded" && !replacedIds.has(id)) return true;

  if (epoch.addedOmitted === 0) return false;
  const leastShown = found.profile.findLastIndex(({ id }) => shownIds.has(id));
  for (const { id } of partOf(epoch.added, "profile")) shownIds.add(id);
  return found.profile
    .slice(0, leastShown + 1)
    .some(({ id, updatedAt }) => !shownIds.has(id) && updatedAt.getTime() > opened.openedAt);
}

/** The caller's message, else the stored one. */
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

function statementOf({ config }: RecallRuntime, request: RecallRequest): RecallSearch {
  const { scope, threadId, messageIds, query, question, reader, categories } = request;
  const { heldIds, heldChecks, isForTask } = request;
  // A task shows nothing of earlier ones, so it continues no epoch.
  const isAlone = request.isFolded || isDelegatedThread(threadId);
  const { budgetTokens, minSlotImportance } = config.retrieval;
  const filter = withTrust(noFilter, request.minTrust);
  const search = { scope, kinds: askedKinds, categories, filter, limit: candidateLimit };
  return {
    // No recorded message has an unstorable id.
    address: { scope, threadId, messageIds: messageIds?.filter(isStorable), heldIds, heldChecks },
    limits: { ...readLimits(config), ...(isAlone && { epochBytes: null }) },
    reader,
    filter,
    asked: query.trim() === "" ? null : { question, search },
    known: {
      categories,
      ...categoriesShown(config.policy, categories),
      minImportance: minSlotImportance,
      most: Math.ceil(budgetTokens / fewestSlotTokens),
      rest: Math.ceil(budgetTokens / fewTokens),
    },
    notes: scope.appId === undefined ? 0 : appNotes(config.notes, scope.appId).limit,
    changes: shownChanges,
    consents: config.consent.ask === "tool" && !isForTask ? shownConsents : 0,
    // Messages have no category yet: only agents that may read all of them see these.
    unread:
      scope.userId !== undefined &&
      categories.length === config.policy.categories.size &&
      !isForTask
        ? shownUnread
        : 0,
  };
}

function categoriesShown({ categories }: CategoryPolicy, names: readonly string[]) {
  const isWhole = (name: string) => categories.get(name)?.context === "all";
  return {
    shownWhole: names.filter(isWhole),
    lengths: names.map((name) =>
      isWhole(name) ? null : (categories.get(name)?.rag_length ?? null),
    ),
  };
}

const askedKinds = defaultKinds.filter((kind) => kind !== "note");
/** Enough for the best hits and episodes. */
const candidateLimit = 30;
const emptyConversation: Conversation = {
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
  const { db, config, logger } = deps;
  const { timeoutMs } = config.retrieval;
  const statement = statementOf(deps, request);
  try {
    const question = { ...request.question, vector: await questionVector(deps, request.query) };
    const asked = statement.asked && { ...statement.asked, question };
    const found = await findRecall(db, { ...statement, asked }, timeoutMs);
    const always = request.isForTask ? { ...found, rest: [] } : found;
    return { found: always, question, timedOut: false };
  } catch (error) {
    if (statement.asked === null || !MemoryError.is(error, "DATABASE_TIMEOUT")) throw error;
  }
  const found = await findRecall(db, { ...statement, asked: null }, timeoutMs);
  logger.warn(`recall found nothing for the question within ${timeoutMs} ms and goes on without`);
  const { scope, threadId } = request;
  const event = { step: "recall", op: "search", status: "error", detail: "timeout" } as const;
  await deps.record({ scope, threadId, ...event });
  return { found, question: request.question, timedOut: true };
}
