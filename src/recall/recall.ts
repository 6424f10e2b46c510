import type { BaseMessage } from "@langchain/core/messages";
import { z } from "zod";
import { readableCategories } from "../domain/category.js";
import { headOf } from "../domain/clip-text.js";
import type { PendingConsent } from "../domain/consent-lines.js";
import type { MemoryItem } from "../domain/memory.js";
import { noFilter } from "../domain/memory-filter.js";
import { namedSpans, questionDates } from "../domain/question-dates.js";
import { namesActor, questionWords } from "../domain/question-words.js";
import type { MemoryHit } from "../domain/rank-memories.js";
import { parseScoped, type Scope, scopeField } from "../domain/scope.js";
import { searchText } from "../domain/search-text.js";
import { isStorable } from "../domain/storable-text.js";
import { parseThreadId, threadForbidden } from "../domain/thread-id.js";
import { MemoryError } from "../errors.js";
import { type RecallMode, recallModeSchema } from "../options.js";
import type { Conversation } from "../store/find-conversation.js";
import {
  findRecall,
  type RecalledChange,
  type RecallResult,
  type RecallStatement,
} from "../store/find-recall.js";
import { insertEvent } from "../store/insert-event.js";
import { storedMessage } from "../store/message-codec.js";
import { fitBudget } from "./fit-budget.js";
import { defaultKinds, embedQuestion, type QueryDeps } from "./query-memories.js";
import { selectMemories } from "./select-memories.js";

/** Which round memory is asked about. */
export interface RecallInput {
  readonly scope: Scope;
  readonly threadId: string;
  /**
   * Ids of the messages of one branch of the conversation: then the summary is the latest one that ends with
   * one of them, or before all of them.
   */
  readonly messageIds?: readonly string[] | undefined;
  /** What the user says now: memories that fit it are recalled. @default none but what is always shown */
  readonly query?: string | undefined;
  /** The agent that will read it: only its categories are recalled. @default no restriction */
  readonly agent?: string | undefined;
  /** "passive": the conversation alone, no memories. @default `retrieval.mode` */
  readonly mode?: RecallMode | undefined;
}

/** Durable memories for a round. */
export interface RecalledMemories {
  /** Slots and statements that are always shown, most important first. */
  readonly profile: readonly MemoryItem[];
  /** What fits the question, best first. */
  readonly relevant: readonly MemoryHit[];
  /** Compressed stretches of earlier turns that fit, best first. */
  readonly episodes: readonly MemoryHit[];
  /** Linked to the best of those. */
  readonly related: readonly MemoryItem[];
  /** Lessons from ended conversations with the app, latest first. */
  readonly notes: readonly MemoryItem[];
  /** Set when the search for what fits the question took too long (`retrieval.timeoutMs`), so that nothing of that is here. */
  readonly timedOut?: boolean;
}

/** What memory knows at the start of a round: its memories, changes and consents as far as the token budget goes. */
export interface Recalled {
  /** "passive": memories, changes and consents were not looked for. */
  readonly mode: RecallMode;
  /** The latest completed summary; null before the first. */
  readonly summary: Conversation["summary"];
  /** A newer summary that is still being made: then the gap is larger. */
  readonly processing: Conversation["processing"];
  /** Every recorded message after the summary's end, in order. */
  readonly gap: readonly BaseMessage[];
  /** The round that the summary ends with, where the gap holds no user's message. */
  readonly lastRound: readonly BaseMessage[];
  /** Ids of those that the graph's state did not hold at the beginning of the run. Only a recall node knows them. */
  readonly brought?: readonly string[];
  readonly lastSeq: number;
  /** Id of the last recorded message; null before the first. */
  readonly lastMessageId: string | null;
  readonly memories: RecalledMemories;
  /** Changes to the owner's memories that this thread was not told of. */
  readonly changes: {
    readonly since: number;
    /** The revision this recall saw. */
    readonly revision: number;
    readonly count: number;
    /** The three most important, most important first. */
    readonly top: readonly RecalledChange[];
  };
  /** What waits for the user's consent and may be asked about, newest first. */
  readonly consents: readonly PendingConsent[];
}

/** Longest question, in characters, that is looked at: as long as `memory.query` takes. */
const mostCharacters = 10_000;
/** Lines of the delta header: more would be read by nobody. */
const shownChanges = 3;
/** Notes of an app: as many as are kept. */
const shownNotes = 10;
/** Slots shown at most: a user has 10 to 50 lasting facts. */
const shownSlots = 50;
/** Requests for consent shown: more questions than this no user answers. */
const shownConsents = 3;

/**
 * All that memory knows for a round, in one round trip (after the embedding of the question, where there are
 * embeddings). A thread not seen before has no conversation yet, and is not made by this.
 *
 * A search that takes longer than `retrieval.timeoutMs` is stopped, and a second round trip reads all but what fits the
 * question.
 *
 * @throws MemoryError `SCOPE_REQUIRED`, `THREAD_REQUIRED`, `INVALID_INPUT`, or `THREAD_FORBIDDEN` when the thread
 *   belongs to another scope.
 */
export async function recall(deps: QueryDeps, input: RecallInput): Promise<Recalled> {
  const { scope, ...asks } = parseScoped(inputSchema, input, "recall");
  const threadId = parseThreadId(asks.threadId);
  const { retrieval, policy } = deps.config;
  const mode = asks.mode ?? retrieval.mode;
  const query = mode === "passive" ? "" : headOf(asks.query ?? "", mostCharacters);
  const terms = searchText(query, retrieval.language);
  const asked = questionWords(terms);
  const dates = questionDates(query);
  const categories = mode === "passive" ? [] : [...readableCategories(policy, input.agent ?? null)];
  const vector = await embedQuestion(deps, query, retrieval.embedTimeoutMs);
  const { found, timedOut } = await findInTime(deps, {
    // What cannot be stored is the id of no recorded message.
    address: { scope, threadId, messageIds: asks.messageIds?.filter(isStorable) },
    question: { scope, terms, ...asked, language: retrieval.language },
    selection:
      query.trim() === ""
        ? null
        : {
            scope,
            kinds: askedKinds,
            categories,
            filter: noFilter,
            vector,
            spans: namedSpans(dates),
            limit: candidateLimit,
          },
    profile: {
      categories,
      shownWhole: categories.filter((name) => policy.categories.get(name)?.context === "all"),
      minImportance: retrieval.minSlotImportance,
      limit: shownSlots,
    },
    notes: shownNotes,
    changes: shownChanges,
    consents: shownConsents,
  });
  if (found.conversation === null) throw threadForbidden(threadId);
  const { gap, lastRound, ...conversation } = found.conversation ?? unseen;
  const recalled: Recalled = {
    mode,
    ...conversation,
    gap: await Promise.all(gap.map(storedMessage)),
    lastRound: await Promise.all(lastRound.map(storedMessage)),
    memories: {
      ...selectMemories(deps, { dates, names: namesActor(asked, retrieval.language), vector }, found),
      ...(timedOut && { timedOut }),
    },
    changes: {
      since: found.revSeen,
      // What is not shown is not seen either.
      revision: mode === "passive" ? found.revSeen : found.revision,
      count: found.changeCount,
      top: found.changes,
    },
    consents: found.consents,
  };
  return fitBudget(recalled, retrieval.budgetTokens);
}

const inputSchema = z.strictObject({
  scope: scopeField,
  threadId: z.unknown(),
  query: z.string().optional(),
  agent: z.string().optional(),
  messageIds: z.array(z.string()).optional(),
  mode: recallModeSchema.optional(),
});

const askedKinds = defaultKinds.filter((kind) => kind !== "note");
/** Enough for the hits and episodes shown to be the best ones. */
const candidateLimit = 30;
const unseen: Conversation = {
  ...{ summary: null, processing: null, gap: [], lastRound: [] },
  ...{ lastSeq: -1, lastMessageId: null },
};

/** What there is for `statement`; without its search when that takes too long, which a warning and an event tell of. */
async function findInTime(
  { db, config, logger }: QueryDeps,
  statement: RecallStatement,
): Promise<{ found: RecallResult; timedOut: boolean }> {
  const { timeoutMs } = config.retrieval;
  try {
    return { found: await findRecall(db, statement, timeoutMs), timedOut: false };
  } catch (error) {
    if (statement.selection === null || !MemoryError.is(error, "DATABASE_TIMEOUT")) throw error;
  }
  const found = await findRecall(db, { ...statement, selection: null }, timeoutMs);
  logger.warn(
    `recall found nothing for the question within ${timeoutMs} ms (retrieval.timeoutMs) and goes on without`,
  );
  const { scope, threadId } = statement.address;
  const event = { step: "recall", op: "search", status: "error", detail: "timeout" } as const;
  await insertEvent(db, { scope, threadId, ...event }, { timeoutMs }).catch((error: unknown) => {
    logger.error(`an event could not be kept: ${error instanceof Error ? error.message : error}`);
  });
  return { found, timedOut: true };
}
