import type { TaskRuntime } from "../jobs/jobs-options.js";
import type { PersonalField } from "../memories/guard/consent-policy.rule.js";
import { type CategoryPolicy, categoryMeant, categoryOfKind } from "../memories/item/category.rule.js";
import { slotKey } from "../memories/item/slot-key.rule.js";
import type { MemoryRelation, WriteConfig } from "../memories/write/write-runtime.js";
import { trimToLength, type WritingProblem, writingProblems } from "../memories/write/writing-constraints.rule.js";
import type { Runtime } from "../runtime.js";
import type { SearchRuntime } from "../search/retrieval-options.js";
import { findSaid } from "../text/find-quote.js";
import { contentHash } from "../text/normal-value.js";
import { createPauses } from "../text/pauses.js";
import { headOf, visibleText } from "../text/storable-text.js";
import type { ChosenRemoval } from "./choose-removals.rule.js";
import { type LearnedFact, type RemovedFact, type SaidAt, saysSame, wasRemoved } from "./removed-facts.rule.js";

/** How a statement stands to what is known; "new" to nothing of it. */
export const factRelations = ["new", "same_as", "updates", "ends", "adds_to"] as const;

/** A fact that a model proposes. `chooseFacts` checks all of it. */
export interface FactCandidate {
  readonly category: string;
  /** With a key it is a slot: one active value per category and key. */
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  /** 1 to 5; below 1 it is not worth keeping. */
  readonly importance: number;
  /** 0 to 1. */
  readonly confidence: number;
  readonly relation: (typeof factRelations)[number];
  /** Number of the known memory that the relation is to, counted from 1; null for none. */
  readonly target: number | null;
  /** Whether the user says it plainly, of themselves. */
  readonly statedByUser: boolean;
  readonly personal: PersonalField | null;
  /** The day from which it holds, as "2026-05-02"; null where it was not said. */
  readonly since: string | null;
  /** Number of the user's message, counted from 1, and their words in it. */
  readonly message: number;
  readonly quote: string;
}

export interface ChosenFact
  extends LearnedFact,
    Pick<FactCandidate, "importance" | "confidence" | "statedByUser" | "personal"> {
  readonly message: number;
  readonly relation: MemoryRelation | null;
  /** From when on it holds; null since it was said. */
  readonly since: Date | null;
  /** Whether it was longer than a memory may be, and was cut after a whole sentence. */
  readonly trimmed: boolean;
}

type CandidateProblem =
  | WritingProblem
  | "other_language"
  | "unknown_category"
  | "out_of_range"
  | "no_evidence"
  | "low_confidence"
  | "low_importance"
  | "duplicate"
  | "asked_to_forget"
  | "removed"
  | "turn_cap"
  | "daily_cap";

export interface RejectedFact {
  readonly problem: CandidateProblem;
  readonly category: string | null;
}

export const extractor = "worker:extract";

export type FactsRuntime = Runtime<WriteConfig> & TaskRuntime & SearchRuntime;

/** Scripts that identify languages. Scripts of one writing system share a row. */
const scripts: readonly (readonly [name: string, letters: RegExp])[] = [
  ["latin", /\p{Script=Latin}/gu],
  ["cyrillic", /\p{Script=Cyrillic}/gu],
  ["greek", /\p{Script=Greek}/gu],
  ["arabic", /\p{Script=Arabic}/gu],
  ["hebrew", /\p{Script=Hebrew}/gu],
  ["chinese", /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Bopomofo}/gu],
  ["korean", /\p{Script=Hangul}/gu],
  ["thai", /\p{Script=Thai}/gu],
  ["devanagari", /\p{Script=Devanagari}/gu],
];

/** A text with fewer letters of a script may only contain a name or a word in it. */
const leastLetters = 8;
/** As many show the script of a text. */
const scriptCharacters = 20_000;

/**
 * Whether `text` has no letter of the script of `source`, so that it cannot be in its language. False where the source
 * is short or mixes scripts.
 */
export function leavesScript(source: string, text: string): boolean {
  const head = headOf(source, scriptCharacters);
  const counted = scripts.map(([, letters]) => [head.match(letters)?.length ?? 0, letters] as const);
  const all = counted.reduce((sum, [count]) => sum + count, 0);
  const [most, letters] = counted.toSorted(([one], [other]) => other - one)[0] ?? [0, /$/g];
  if (most < leastLetters || most < 0.9 * all) return false;
  return (text.match(/\p{L}/gu)?.length ?? 0) >= leastLetters && text.match(letters) === null;
}

/** A memory in the prompt. */
export interface ShownMemory {
  readonly id: string;
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  /** It waits for the user's consent, and can only be forgotten. */
  readonly waits?: boolean | undefined;
}

export interface FactRules {
  readonly policy: CategoryPolicy;
  /** The user's messages, in the order of the prompt. */
  readonly messages: readonly string[];
  /** In the order of the prompt. */
  readonly known: readonly ShownMemory[];
  readonly minConfidence: number;
  readonly minImportance: number;
  readonly perMessage: number;
  readonly inAll: number;
  /** Memories that the messages ask to forget. @default none */
  readonly removals?: readonly ChosenRemoval[] | undefined;
  /** Memories removed since the first message, and the messages' times. @default none */
  readonly removed?: { readonly facts: readonly RemovedFact[]; readonly messages: readonly SaidAt[] } | undefined;
}

/** In characters. */
const longestKey = 200;
const longestValue = 2_000;

const notForFacts: ReadonlySet<string> = new Set(
  Object.entries(categoryOfKind).flatMap(([kind, category]) => (kind === "fact" ? [] : [category])),
);

export function factCategories(policy: CategoryPolicy): string[] {
  return [...policy.categories.keys()].filter((name) => !notForFacts.has(name));
}

/**
 * The candidates that may be written, in the order of their messages, and why the others may not.
 *
 * A candidate's category and key decide its slot: models confuse unlike things (graphiti #1728), so no relation moves a
 * fact to another slot. What adds to a slot, or ends it, is a statement without one. Of each message the best are kept
 * (importance × confidence); a message gives a slot one value.
 */
export async function chooseFacts(
  candidates: readonly FactCandidate[],
  rules: FactRules,
): Promise<{ chosen: ChosenFact[]; rejected: RejectedFact[] }> {
  const pause = createPauses();
  const rejected: RejectedFact[] = [];
  const checked: ChosenFact[] = [];
  for (const candidate of candidates) {
    await pause();
    const result = checkFact(candidate, rules);
    if (typeof result !== "string") checked.push(result);
    else
      rejected.push({
        problem: result,
        category: categoryMeant(rules.policy, candidate.category)?.name ?? null,
      });
  }
  const best = checked.toSorted((first, second) => worth(second) - worth(first));
  const chosen: ChosenFact[] = [];
  for (const fact of best) {
    await pause();
    const problem = crowdedOut(fact, chosen, rules);
    if (problem) rejected.push({ problem, category: fact.category });
    else chosen.push(fact);
  }
  return { chosen: chosen.toSorted((first, second) => first.message - second.message), rejected };
}

function checkFact(candidate: FactCandidate, rules: FactRules): ChosenFact | CandidateProblem {
  const category = categoryMeant(rules.policy, candidate.category)?.name;
  if (category === undefined || notForFacts.has(category)) return "unknown_category";
  const message = candidate.message - 1;
  const quote = findSaid(rules.messages[message] ?? "", candidate.quote);
  if (quote === null) return "no_evidence";
  const range = rangeProblem(candidate, rules);
  if (range) return range;
  const { slot, value } = slotOf(candidate);
  const said = visibleText(candidate.text).trim();
  const text = trimToLength("fact", said) ?? said;
  const [problem = slotProblem(slot, value)] = writingProblems("fact", text);
  if (problem) return problem;
  if (leavesScript(rules.messages[message] ?? "", text)) return "other_language";
  const { importance, confidence, statedByUser, personal } = candidate;
  return {
    category,
    key: slot,
    value,
    text,
    importance,
    confidence,
    statedByUser,
    personal,
    message,
    quote,
    relation: relationOf(candidate, { category, key: slot }, rules.known),
    // A value of a slot takes its place among the others by when it was said.
    since: slot === null ? dayOf(candidate.since) : null,
    trimmed: text.length < said.length,
  };
}

/** What adds to a value, or ends it, does not take its place. */
function slotOf({ key, value, relation }: FactCandidate) {
  const none = { slot: null, value: null };
  if (key === null || relation === "adds_to" || relation === "ends") return none;
  const slot = slotKey(visibleText(key));
  return slot === null ? none : { slot, value: visibleText(value ?? "").trim() || null };
}

/** Null for a memory that was not shown, waits, or is another slot's. */
function relationOf(
  { relation, target }: FactCandidate,
  slot: { readonly category: string; readonly key: string | null },
  known: readonly ShownMemory[],
): MemoryRelation | null {
  const memory = target === null ? undefined : known[target - 1];
  if (relation === "new" || !memory || memory.waits) return null;
  const isOfSlot = memory.key === slot.key && memory.category === slot.category;
  if (slot.key !== null && memory.key !== null && !isOfSlot) return null;
  return { relation, target: memory.id };
}

/** A day, month or year of our calendar. */
function dayOf(since: string | null): Date | null {
  const date = /^\d{4}(?:-\d{2}){0,2}$/.test(since ?? "") ? new Date(since as string) : null;
  return date && Number.isFinite(date.getTime()) ? date : null;
}

function slotProblem(key: string | null, value: string | null): CandidateProblem | null {
  return (key ?? "").length > longestKey || (value ?? "").length > longestValue ? "too_long" : null;
}

function rangeProblem(candidate: FactCandidate, rules: FactRules): CandidateProblem | null {
  const { importance, confidence } = candidate;
  const inRange = importance >= 0 && importance <= 5 && confidence >= 0 && confidence <= 1;
  if (!inRange) return "out_of_range";
  if (confidence < rules.minConfidence) return "low_confidence";
  return importance < rules.minImportance ? "low_importance" : null;
}

function crowdedOut(fact: ChosenFact, chosen: readonly ChosenFact[], rules: FactRules): CandidateProblem | null {
  if (rules.removals?.some((removal) => isRequested(fact, removal, rules))) return "asked_to_forget";
  const said = rules.removed?.messages[fact.message];
  if (said && wasRemoved(fact, said, rules.removed?.facts ?? [])) return "removed";
  const ofMessage = chosen.filter(({ message }) => message === fact.message);
  if (ofMessage.some((other) => isSame(other, fact))) return "duplicate";
  if (ofMessage.length >= rules.perMessage) return "turn_cap";
  return chosen.length >= rules.inAll ? "daily_cap" : null;
}

/** Whether `fact` rests on the words of a request, or says within them what is to be forgotten. */
function isRequested(fact: ChosenFact, removal: ChosenRemoval, { messages, known }: FactRules): boolean {
  if (removal.message !== fact.message) return false;
  const said = (messages[fact.message] ?? "").normalize("NFC");
  const [asked, told] = [removal.quote, fact.quote].map((quote) => {
    const from = said.indexOf(quote);
    return { from, to: from + quote.length };
  }) as [Stretch, Stretch];
  if (told.to <= asked.from || asked.to <= told.from) return false;
  if (told.from < asked.from || asked.to < told.to) return true;
  const gone = known.find(({ id }) => id === removal.id);
  return gone !== undefined && (fact.relation?.target === gone.id || saysSame(fact, gone));
}

interface Stretch {
  readonly from: number;
  readonly to: number;
}

function isSame(first: ChosenFact, second: ChosenFact): boolean {
  if (contentHash(first.text) === contentHash(second.text)) return true;
  return first.key !== null && first.key === second.key && first.category === second.category;
}

function worth({ importance, confidence }: ChosenFact): number {
  return importance * confidence;
}
