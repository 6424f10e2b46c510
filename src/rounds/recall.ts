import { z } from "zod";
import { type ConversationOptions, readLimits } from "../conversation/conversation-options.js";
import type { Conversation } from "../conversation/find-conversation.js";
import { recentMessages } from "../conversation/recent-messages.rule.js";
import { MemoryError, messageOf } from "../errors.js";
import { insertEvent } from "../events/event-log.js";
import { readableCategories } from "../memories/item/category.rule.js";
import type { Runtime } from "../runtime.js";
import { parseScoped, parseThreadId, type Scope, scopeField, threadForbidden } from "../scope/scope.js";
import { noFilter } from "../search/memory-filter.rule.js";
import { searchedBy } from "../search/memory-hits.js";
import { defaultKinds } from "../search/query-memories.js";
import { embedQuestion } from "../search/read-question.js";
import { type RecallMode, recallModeSchema, type SearchRuntime } from "../search/retrieval-options.js";
import type { SummaryOptions } from "../summaries/summary-window.rule.js";
import { estimateTokens } from "../text/estimate-tokens.js";
import { storedMessage } from "../text/message-codec.js";
import { headOf, isStorable } from "../text/storable-text.js";
import { findRecall, type RecallResult } from "./find-recall.js";
import { memoryBlock } from "./memory-block.js";
import type { RecallStatement } from "./recall-statement.js";
import { type Recalled, type RecalledMemories, selectMemories } from "./recalled.js";

/**
 * `found` cut to what its memory block holds within `budgetTokens`, headings and all, the conversation's summary apart.
 *
 * What changed and what waits for consent go first, then the profile, what fits the question, episodes, notes and links,
 * each in its order, as long as there is room. What is too long is passed over.
 */
export function fitBudget(found: Recalled, budgetTokens: number): Recalled {
  if (blockTokens(found) <= budgetTokens) return found;
  const steps = [
    ...found.changes.top.map((_, index) => ({
      changes: { ...found.changes, top: found.changes.top.slice(0, index + 1) },
    })),
    ...found.consents.map((_, index) => ({ consents: found.consents.slice(0, index + 1) })),
  ];
  let shown: Recalled = {
    ...found,
    changes: { ...found.changes, count: 0, top: [] },
    consents: [],
    memories: noMemories,
  };
  for (const step of steps) {
    const next = { ...shown, ...step };
    if (blockTokens(next) <= budgetTokens) shown = next;
  }
  return { ...shown, memories: fittingMemories(shown, found.memories, budgetTokens) };
}

const noMemories: RecalledMemories = { profile: [], relevant: [], episodes: [], notes: [], related: [] };
const order = ["profile", "relevant", "episodes", "notes", "related"] as const;

function fittingMemories(shown: Recalled, found: RecalledMemories, budgetTokens: number): RecalledMemories {
  const tokensOf = (memories: RecalledMemories) => blockTokens({ ...shown, memories });
  const kept: RecalledMemories[] = [noMemories];
  let used = tokensOf(noMemories);
  for (const part of order) {
    for (const item of found[part]) {
      const before = kept.at(-1) as RecalledMemories;
      const next = { ...before, [part]: [...before[part], item] };
      // A heading comes with the first; then a line is the same everywhere, and the whole need not be written again.
      const tokens =
        before[part].length === 0
          ? tokensOf(next)
          : used +
            lineTokens(shown, { ...noMemories, [part]: [item] }, { ...noMemories, [part]: [item, item] });
      // What is added up is a little too much: the whole is written again before anything is left out.
      const exact = tokens > budgetTokens ? tokensOf(next) : tokens;
      if (exact > budgetTokens) continue;
      kept.push(next);
      used = exact;
    }
  }
  return kept.findLast((memories) => tokensOf(memories) <= budgetTokens) ?? noMemories;
}

/** What a line costs more in a block that has it twice. */
function lineTokens(shown: Recalled, once: RecalledMemories, twice: RecalledMemories): number {
  const alone = { ...shown, changes: { ...shown.changes, count: 0 }, consents: [] };
  return blockTokens({ ...alone, memories: twice }) - blockTokens({ ...alone, memories: once });
}

function blockTokens(recalled: Recalled): number {
  return estimateTokens(memoryBlock({ ...recalled, summary: null, leftOut: null }) ?? "");
}

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

/** What a recall takes. */
type RecallRuntime = SearchRuntime &
  Runtime<{ readonly summaries: SummaryOptions; readonly conversation: ConversationOptions }>;

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
export async function recall(deps: RecallRuntime, input: RecallInput): Promise<Recalled> {
  const { scope, ...asks } = parseScoped(inputSchema, input, "recall");
  const threadId = parseThreadId(asks.threadId);
  const { retrieval, policy } = deps.config;
  const mode = asks.mode ?? retrieval.mode;
  const query = mode === "passive" ? "" : headOf(asks.query ?? "", mostCharacters);
  const categories = mode === "passive" ? [] : [...readableCategories(policy, input.agent ?? null)];
  const question = await embedQuestion(deps, query);
  const { found, timedOut } = await findInTime(deps, {
    // What cannot be stored is the id of no recorded message.
    address: { scope, threadId, messageIds: asks.messageIds?.filter(isStorable) },
    limits: readLimits(deps.config),
    asked:
      query.trim() === ""
        ? null
        : {
            question,
            selection: {
              ...{ scope, kinds: askedKinds, categories, filter: noFilter, limit: candidateLimit },
              ...searchedBy(question),
            },
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
  const { gap, recent, lastRound, ...conversation } = found.conversation ?? unseen;
  const { keepRecentMessages, keepRecentTokens } = deps.config.summaries;
  const covered = keepRecentMessages === 0 || conversation.leftOut ? [] : recent;
  const shownAgain = recentMessages(await Promise.all(covered.map(storedMessage)), keepRecentTokens);
  const recalled: Recalled = {
    mode,
    ...conversation,
    gap: await Promise.all(gap.map(storedMessage)),
    recent: shownAgain.messages,
    shortened: shownAgain.shortened,
    lastRound: await Promise.all(lastRound.map(storedMessage)),
    memories: {
      ...selectMemories(deps, question, found),
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
  ...{ summary: null, processing: null, gap: [], leftOut: null, recent: [], lastRound: [] },
  ...{ lastSeq: -1, lastMessageId: null },
};

/** What there is for `statement`; without its search when that takes too long, which a warning and an event tell of. */
async function findInTime(
  { db, config, logger }: SearchRuntime,
  statement: RecallStatement,
): Promise<{ found: RecallResult; timedOut: boolean }> {
  const { timeoutMs } = config.retrieval;
  try {
    return { found: await findRecall(db, statement, timeoutMs), timedOut: false };
  } catch (error) {
    if (statement.asked === null || !MemoryError.is(error, "DATABASE_TIMEOUT")) throw error;
  }
  const found = await findRecall(db, { ...statement, asked: null }, timeoutMs);
  logger.warn(
    `recall found nothing for the question within ${timeoutMs} ms (retrieval.timeoutMs) and goes on without`,
  );
  const { scope, threadId } = statement.address;
  const event = { step: "recall", op: "search", status: "error", detail: "timeout" } as const;
  await insertEvent(db, { scope, threadId, ...event }, { timeoutMs }).catch((error: unknown) => {
    logger.error(`an event could not be kept: ${messageOf(error)}`);
  });
  return { found, timedOut: true };
}
