import type { BaseMessage } from "@langchain/core/messages";
import { z } from "zod";
import { inTime } from "../deadline.js";
import { parseInput } from "../input/parse-input.js";
import { type CategoryPolicy, readableCategories } from "../memories/item/category.rule.js";
import { saidMessage } from "../messages/recalled-mark.js";
import { appNotes, type NotesOptions } from "../notes/notes-options.js";
import type { Runtime } from "../runtime.js";
import { isDelegatedThread, requiredScope, requiredThread } from "../scope/scope.js";
import type { Redactor } from "../screening/redactor.js";
import { minTrustField, noFilter, withTrust } from "../search/memory-filter.rule.js";
import { defaultKinds } from "../search/query-memories.js";
import { type EmbeddedQuestion, readQuestion } from "../search/read-question.js";
import { recallModeSchema, type SearchRuntime } from "../search/retrieval-options.js";
import type { SummaryOptions } from "../summaries/summary-window.rule.js";
import { headOf, isStorable } from "../text/storable-text.js";
import { timeZoneField } from "../text/time-zone.js";
import { type ContextOptions, type Preset, readLimits } from "../transcript/context-options.js";
import { wordsCheck, wordsOf } from "../transcript/message-words.js";

/** The newest ones identify a branch. */
export const maxMessageIds = 10_000;

const inputSchema = z.strictObject({
  scope: requiredScope,
  threadId: requiredThread,
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
  messageIds: z.array(z.string()).max(maxMessageIds).readonly().optional(),
  /** "passive": the conversation alone, no memories. @default "active" */
  mode: recallModeSchema.optional(),
  /** The caller's messages, which replace the transcript's by id. @default none */
  state: z
    .array(z.custom<BaseMessage>((value) => typeof value === "object" && value !== null))
    .readonly()
    .optional(),
});

export interface RecallInput extends z.input<typeof inputSchema> {}

const maxCharacters = 10_000;
/** A short profile line: "- tea: green". */
const minSlotTokens = 5;
/**
 * A usual fallback line: "- [relationships] The user's sister Clara lives in Utrecht and draws
 * plans."
 */
const usualFallbackTokens = 25;
/** No user answers more questions. */
const shownConsents = 3;
/** The budget cuts them: in an outage of its model, extraction reads none for hours. */
const shownUnread = 30;
const askedKinds = defaultKinds.filter((kind) => kind !== "note");
/** Enough for the best hits and episodes. */
const maxCandidates = 30;

export type RecallRuntime = SearchRuntime &
  Runtime<{
    readonly summaries: SummaryOptions;
    readonly preset: Preset;
    readonly context: ContextOptions;
    readonly notes: NotesOptions;
    readonly consent: { readonly ask: string };
    readonly lifecycle: { readonly purgeAfterMs: number };
  }>;

/** Whose memory a turn recalls, for which words, what its caller holds, and how much is read. */
export type RecallRequest = Awaited<ReturnType<typeof readRequest>>;

export async function readRequest(
  { config, redactor, ...deps }: RecallRuntime,
  input: RecallInput,
  isForTask: boolean,
) {
  const given = parseInput(inputSchema, input, "recall");
  const { scope, threadId, mode = "active", minTrust, state = [] } = given;
  const { policy, retrieval } = config;
  const isPassive = mode === "passive";
  const query = isPassive ? "" : headOf(given.query ?? "", maxCharacters);
  const categories = isPassive ? [] : [...readableCategories(policy, given.agent ?? null)];
  const filter = withTrust(noFilter, minTrust);
  const question: EmbeddedQuestion = {
    ...readQuestion({ config, ...deps }, query, given.timeZone),
    vector: null,
  };
  const limits = readLimits(config);
  // A task shows nothing of earlier ones, so it continues no epoch.
  if (isDelegatedThread(threadId)) limits.epochBytes = null;
  const { heldIds, heldChecks, ...ofState } = await readHeld(redactor, state);
  return {
    scope,
    threadId,
    mode,
    query,
    timeZone: given.timeZone ?? retrieval.timeZone,
    isForTask,
    ...ofState,
    heldIds,
    heldChecks,
    // No recorded message has an unstorable id.
    messageIds: given.messageIds?.filter(isStorable),
    limits,
    /**
     * Readers that differ have epochs of their own. "trust …" is no category: their names have no
     * space.
     */
    reader: minTrust ? [...categories, `trust ${minTrust}`] : categories,
    filter,
    question,
    /** Null without a question: finds only what is always shown. */
    search:
      query.trim() === "" ? null : { scope, kinds: askedKinds, categories, filter, maxCandidates },
    known: {
      categories,
      ...categoriesShown(policy, categories),
      /** Importance from which slots of other categories are always shown. */
      minImportance: retrieval.minSlotImportance,
      maxProfile: Math.ceil(retrieval.budgetTokens / minSlotTokens),
      /** Also of facts without a key that are read per category. */
      maxFallback: Math.ceil(retrieval.budgetTokens / usualFallbackTokens),
    },
    notes: scope.appId === undefined ? 0 : appNotes(config.notes, scope.appId).limit,
    consents: config.consent.ask === "tool" && !isForTask ? shownConsents : 0,
    // Messages have no category yet: only agents that may read all of them see these.
    unread:
      scope.userId !== undefined && categories.length === policy.categories.size && !isForTask
        ? shownUnread
        : 0,
  };
}

function categoriesShown({ categories }: CategoryPolicy, names: readonly string[]) {
  const isWhole = (name: string) => categories.get(name)?.context === "all";
  return {
    /** Categories that are always shown whole. */
    shownWhole: names.filter(isWhole),
    /** Limit per category; null for none. */
    lengths: names.map((name) =>
      isWhole(name) ? null : (categories.get(name)?.rag_length ?? null),
    ),
  };
}

const maxRedactingMs = 1_000;

/**
 * The messages in the caller's state by id, and what users and assistants say in them: without it, a
 * run's rewriting cannot be told from an edit. Checksums are of that, redacted as the transcript's
 * words are; null where unknown.
 */
async function readHeld(redactor: Redactor, state: readonly BaseMessage[]) {
  const held = new Map<string, BaseMessage>();
  for (const message of state) if (message.id) held.set(message.id, message);
  const words = new Map<string, string>();
  for (const [id, message] of held) {
    const own = saidMessage(message);
    const said = own && wordsOf(own);
    if (typeof said === "string") words.set(id, said);
  }
  const heldIds = [...held.keys()].filter(isStorable);
  const checks = heldIds.map((id) => {
    const said = words.get(id);
    return said === undefined ? null : wordsCheck(redactor, said);
  });
  // Without an answer in time edits are seen in a later turn: recall waits for no redaction.
  const unknown = () => heldIds.map(() => null);
  const late = () => new Error("late");
  const heldChecks = await inTime(maxRedactingMs, Promise.all(checks), late).catch(unknown);
  return { held, words, heldIds, heldChecks };
}
