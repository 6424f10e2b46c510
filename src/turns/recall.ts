import type { BaseMessage } from "@langchain/core/messages";
import { z } from "zod";
import { type ContextOptions, type Preset, readLimits } from "../conversation/context-options.js";
import type { Conversation } from "../conversation/find-conversation.js";
import { recentMessages } from "../conversation/recent-messages.rule.js";
import { closeEdited } from "../edits/close-edited.js";
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
import { heldChecks, heldWords } from "./held-words.js";
import { durations, isNewsGone, partOf, type Recalled, selectMemories } from "./recalled.js";

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
  const { state = [], ...asks } = parseAddressed(inputSchema, input, "recall");
  const { threadId, scope } = asks;
  const { appId } = scope;
  const { policy } = deps.config;
  const mode = asks.mode ?? "active";
  const query = mode === "passive" ? "" : headOf(asks.query ?? "", mostCharacters);
  const categories = mode === "passive" ? [] : [...readableCategories(policy, input.agent ?? null)];
  // No category has a space. Each reader has epochs of its own.
  const reader = asks.minTrust ? [...categories, `trust ${asks.minTrust}`] : categories;
  const read = { ...readQuestion(deps, query, asks.timeZone), vector: null };
  const held = new Map(
    state.flatMap((message) => (message.id ? [[message.id, message] as const] : [])),
  );
  const words = heldWords(held);
  const reads = {
    ...asks,
    query,
    categories,
    reader,
    question: read,
    ...(await heldChecks(deps.redactor, held, words)),
    isForTask,
  };
  const { timeZone = deps.config.retrieval.timeZone } = asks;
  const of = { mode, reader, held, words, timeZone };
  const first = await findUnedited(deps, reads, words);
  if (first.found.conversation === null) throw threadForbidden(threadId);
  const continued = await recalledOf(deps, asks, of, first);
  // Seldom: what the epoch shows cannot be shown any more, or has no room for what is more important.
  const fitting = mustFold(first.found, continued)
    ? await recalledOf(deps, asks, of, await findInTime(deps, { ...reads, isFolded: true }))
    : continued;
  const shownNotes = fitting.memories.notes.length;
  if (appId !== undefined && shownNotes > 0) {
    const fields = { threadId, step: "recall", appId, notes: shownNotes };
    deps.logger.info(`🧠 Retrieved ${shownNotes} memories for app ${appId}`, fields);
  }
  durations.set(fitting, performance.now() - startedAt);
  return fitting;
}

/** Seldom twice: what rests on words that the user has edited is closed before it is shown. */
async function findUnedited(
  deps: RecallRuntime,
  reads: ReadRecall,
  words: ReadonlyMap<string, string>,
) {
  const first = await findInTime(deps, reads);
  const edits = (first.found.conversation?.edited ?? []).map((messageId) => ({
    messageId,
    words: words.get(messageId) ?? "",
  }));
  if (edits.length === 0 || !(await closeEdited(deps, reads, edits))) return first;
  return findInTime(deps, reads);
}

interface Reading {
  readonly mode: RecallMode;
  readonly words: ReadonlyMap<string, string>;
  readonly reader: readonly string[];
  readonly held: ReadonlyMap<string, BaseMessage>;
  readonly timeZone: string;
}

/** What was found, within the budget. */
async function recalledOf(
  deps: RecallRuntime,
  { threadId, scope: { appId } }: ThreadAddress,
  { mode, reader, held, words, timeZone }: Reading,
  { found, question, timedOut }: Awaited<ReturnType<typeof findInTime>>,
): Promise<Recalled> {
  const { retrieval, notes } = deps.config;
  // A task says all that its agent needs; earlier tasks are others'.
  const { epoch, firstSeq, summarisedId, edited, ...conversation } =
    (isDelegatedThread(threadId) ? null : found.conversation) ?? unseen;
  const { memories, asked, earlier, added, toldIds } = await selectMemories(deps, question, found);
  const shownBefore = new Set(earlier.flatMap(({ consents }) => consents.map(({ id }) => id)));
  const recalled: Recalled = {
    mode,
    ...conversation,
    ...messagesShown(conversation, held, deps.config.summaries),
    ...(held.size > 0 && { edited: edited.flatMap((id) => held.get(id) ?? []), words }),
    epoch: {
      isNew: epoch === null,
      openedBy: epoch?.lines[0]?.[0],
      firstSeq,
      earlier,
      added,
      addedOmitted: 0,
      toldIds,
      readable: reader,
      summarisedId,
    },
    memories: { ...memories, ...(timedOut && { timedOut }) },
    ...(appId !== undefined && found.notes.length > 0 && { appName: appNotes(notes, appId).name }),
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
  return fitBudget(recalled, retrieval.budgetTokens, asked);
}

/**
 * Whether an open epoch has to end: what it told is gone, it shows a value without what replaced
 * it, or what became known since is over budget and more important than what it shows.
 */
function mustFold(found: RecallResult, { epoch, changes }: Recalled): boolean {
  const opened = found.conversation?.epoch;
  if (!opened) return false;
  const told = [...found.told.flatMap((turn) => turn.changes), ...changes.top];
  const replacedIds = new Set(told.map(({ insteadId }) => insteadId));
  const isUntold = opened.lines.some(
    ([, id]) => id !== null && found.shown.get(id)?.state === "superseded" && !replacedIds.has(id),
  );
  if (isNewsGone(found) || isUntold) return true;
  if (epoch.addedOmitted === 0) return false;
  const shownIds = new Set(opened.lines.map(([, id]) => id));
  const addedIds = new Set(partOf(epoch.added, "profile").map(({ id }) => id));
  const leastShown = found.profile.findLastIndex(({ id }) => shownIds.has(id));
  return found.profile
    .slice(0, leastShown + 1)
    .some(
      ({ id, updatedAt }) =>
        !shownIds.has(id) && !addedIds.has(id) && updatedAt.getTime() > opened.openedAt,
    );
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

interface ReadRecall extends Pick<RecallInput, "scope" | "threadId" | "messageIds" | "minTrust"> {
  /** Opens an epoch, whatever is shown. */
  readonly isFolded?: boolean;
  readonly isForTask: boolean;
  readonly reader: readonly string[];
  readonly heldIds: readonly string[];
  readonly heldChecks: readonly (number | null)[];
  readonly query: string;
  readonly question: EmbeddedQuestion;
  readonly categories: readonly string[];
}

function statementOf({ config }: RecallRuntime, asks: ReadRecall): RecallSearch {
  const { scope, threadId, messageIds, query, question, reader, categories } = asks;
  const { heldIds, heldChecks } = asks;
  // A task shows nothing of earlier ones, so it continues no epoch.
  const isAlone = asks.isFolded || isDelegatedThread(threadId);
  const { budgetTokens, minSlotImportance } = config.retrieval;
  const filter = withTrust(noFilter, asks.minTrust);
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
    consents: config.consent.ask === "tool" && !asks.isForTask ? shownConsents : 0,
    // Messages have no category yet: only agents that may read all of them see these.
    unread:
      scope.userId !== undefined &&
      categories.length === config.policy.categories.size &&
      !asks.isForTask
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
const unseen: Conversation = {
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
  summarisedId: null,
  edited: [],
};

async function findInTime(deps: RecallRuntime, asks: ReadRecall) {
  const { db, config, logger } = deps;
  const { timeoutMs } = config.retrieval;
  const statement = statementOf(deps, asks);
  try {
    const question = { ...asks.question, vector: await questionVector(deps, asks.query) };
    const asked = statement.asked && { ...statement.asked, question };
    const found = await findRecall(db, { ...statement, asked }, timeoutMs);
    const always = asks.isForTask ? { ...found, rest: [] } : found;
    return { found: always, question, timedOut: false };
  } catch (error) {
    if (statement.asked === null || !MemoryError.is(error, "DATABASE_TIMEOUT")) throw error;
  }
  const found = await findRecall(db, { ...statement, asked: null }, timeoutMs);
  logger.warn(`recall found nothing for the question within ${timeoutMs} ms and goes on without`);
  const { scope, threadId } = asks;
  const event = { step: "recall", op: "search", status: "error", detail: "timeout" } as const;
  await deps.record({ scope, threadId, ...event });
  return { found, question: asks.question, timedOut: true };
}
