import type { TaskRuntime } from "../jobs/jobs-options.js";
import type { InsightsDue } from "../jobs/work-table.js";
import { type CategoryPolicy, categoryMeant, categoryOfKind } from "../memories/item/category.rule.js";
import { slotKey } from "../memories/item/slot-key.rule.js";
import type { WriteConfig } from "../memories/write/write-runtime.js";
import {
  trimToLength,
  type WritingProblem,
  writingProblems,
} from "../memories/write/writing-constraints.rule.js";
import type { Runtime } from "../runtime.js";
import { isToBeForgotten } from "../text/asks-to-forget.js";
import { comesBesides } from "../text/comes-besides.js";
import { findQuote } from "../text/find-quote.js";
import { contentHash, normalValue } from "../text/normal-value.js";
import { visibleText } from "../text/storable-text.js";
import { type ChosenRemoval, isTakenBack, restsOnRemoval } from "./choose-removals.rule.js";
import { type RemovedFact, type SaidAt, wasRemoved } from "./removed-facts.rule.js";

/** A fact that a model proposes to remember. Nothing in it is believed before `chooseFacts` has looked at it. */
export interface FactCandidate {
  readonly category: string;
  /** With a key it is a slot: one active value for each category and key. */
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  /** 1 to 5; below 1 it is not worth keeping. */
  readonly importance: number;
  /** 0 to 1. */
  readonly confidence: number;
  /** The words it rests on, and the number of the message that has them, counted from 1. */
  readonly evidence: { readonly message: number; readonly quote: string };
  /** The user plainly corrected what was known. */
  readonly correction: boolean;
  /** Number of the known slot it is said to give a value for, counted from 1; null when it is a new one. */
  readonly updates: number | null;
}

/** A candidate that may be written. */
export interface ChosenFact {
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  readonly importance: number;
  readonly confidence: number;
  readonly correction: boolean;
  /** Index of the message it was learned from. */
  readonly message: number;
  /** The words it rests on, as they stand in that message. */
  readonly quote: string;
  /** Whether it came longer than a memory may be, and was cut after a whole sentence. */
  readonly trimmed: boolean;
}

/** Why a candidate is not written. */
type CandidateProblem =
  | WritingProblem
  | "other_language"
  | "unknown_category"
  | "unknown_memory"
  | "out_of_range"
  | "no_evidence"
  | "low_confidence"
  | "low_importance"
  | "duplicate"
  | "asked_to_forget"
  | "removed"
  | "turn_cap"
  | "daily_cap";

/** A candidate that is not written. */
export interface RejectedFact {
  readonly problem: CandidateProblem;
  readonly category: string | null;
}

/** How the audit trail names who writes extracted facts. */
export const extractor = "worker:extract";

/** What making facts needs. */
export type FactsRuntime = Runtime<WriteConfig & { readonly insights: InsightsDue }> & TaskRuntime;

/** Scripts that stand for languages. Scripts of one way of writing stand together. */
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

/** With fewer letters of a script, a text may just have a name or a word in it. */
const leastLetters = 8;

/**
 * Whether `text` is written in none of the letters in which `source` is, so that it cannot be of its language. Where the
 * source is short, or mixes scripts, nothing is said of it.
 */
export function leavesScript(source: string, text: string): boolean {
  const counted = scripts.map(([, letters]) => [source.match(letters)?.length ?? 0, letters] as const);
  const all = counted.reduce((sum, [count]) => sum + count, 0);
  const [most, letters] = counted.toSorted(([one], [other]) => other - one)[0] ?? [0, /$/g];
  if (most < leastLetters || most < 0.9 * all) return false;
  return (text.match(/\p{L}/gu)?.length ?? 0) >= leastLetters && text.match(letters) === null;
}

/** A slot that is taken already. */
export interface KnownSlot {
  readonly category: string;
  readonly key: string;
  readonly value: string | null;
  readonly text: string;
}

/** What candidates are compared with. */
export interface FactRules {
  readonly policy: CategoryPolicy;
  /** Texts of the user's messages, in the order in which the model was given them. */
  readonly messages: readonly string[];
  /** In the order in which the model was given them. */
  readonly known: readonly KnownSlot[];
  readonly minConfidence: number;
  readonly minImportance: number;
  /** Most facts kept of one message. */
  readonly perMessage: number;
  /** Most facts kept in all. */
  readonly inAll: number;
  /** What the messages ask to forget. @default nothing */
  readonly removals?: readonly ChosenRemoval[] | undefined;
  /** What was removed since the first of the messages, and when each of these was said. @default nothing */
  readonly removed?:
    | { readonly facts: readonly RemovedFact[]; readonly messages: readonly SaidAt[] }
    | undefined;
}

/** Longest key and value kept, in characters. */
const longestKey = 200;
const longestValue = 2_000;

/** Categories of memories that are not facts. */
const notForFacts: ReadonlySet<string> = new Set(
  Object.entries(categoryOfKind).flatMap(([kind, category]) => (kind === "fact" ? [] : [category])),
);

/** The names of the categories that facts may go to. */
export function factCategories(policy: CategoryPolicy): string[] {
  return [...policy.categories.keys()].filter((name) => !notForFacts.has(name));
}

/**
 * The candidates that may be written, in the order of their messages, and why the others may not.
 *
 * A candidate's own category and key say which slot it fills, and nothing else: models take unlike things for the same
 * (graphiti #1728), so the number of a known fact takes no slot from another, and none is a statement of its own. What
 * comes besides the value that a slot has ("also a volunteer firefighter") is a statement too, and ends nothing.
 * Of each message the best are kept (importance × confidence); a message gives a slot one value.
 */
export function chooseFacts(
  candidates: readonly FactCandidate[],
  rules: FactRules,
): { chosen: ChosenFact[]; rejected: RejectedFact[] } {
  const rejected: RejectedFact[] = [];
  const checked: ChosenFact[] = [];
  for (const candidate of candidates) {
    const result = checkFact(candidate, rules);
    if (typeof result !== "string") checked.push(result);
    else
      rejected.push({
        problem: result,
        category: categoryMeant(rules.policy, candidate.category)?.name ?? null,
      });
  }
  const best = checked
    .map((fact) => (endsAnother(fact, checked, rules.known) ? { ...fact, key: null, value: null } : fact))
    .toSorted((first, second) => worth(second) - worth(first));
  const chosen: ChosenFact[] = [];
  for (const fact of best) {
    const problem = crowdedOut(fact, chosen, rules);
    if (problem) rejected.push({ problem, category: fact.category });
    else chosen.push(fact);
  }
  return { chosen: chosen.toSorted((first, second) => first.message - second.message), rejected };
}

function checkFact(candidate: FactCandidate, rules: FactRules): ChosenFact | CandidateProblem {
  const category = categoryMeant(rules.policy, candidate.category)?.name;
  if (category === undefined || notForFacts.has(category)) return "unknown_category";
  const message = candidate.evidence.message - 1;
  const quote = findQuote(rules.messages[message] ?? "", candidate.evidence.quote);
  if (quote === null) return "no_evidence";
  const range = rangeProblem(candidate, rules);
  if (range) return range;
  if (candidate.updates !== null && !rules.known[candidate.updates - 1]) return "unknown_memory";
  const slot = candidate.key === null ? null : slotKey(category, visibleText(candidate.key));
  const said = visibleText(candidate.text).trim();
  const text = trimToLength("fact", said) ?? said;
  const value = candidate.value === null ? null : visibleText(candidate.value).trim() || null;
  const [problem = slotProblem(slot, value)] = writingProblems("fact", text);
  if (problem) return problem;
  if (leavesScript(rules.messages[message] ?? "", text)) return "other_language";
  const { importance, confidence, correction } = candidate;
  const trimmed = text.length < said.length;
  return { category, key: slot, value, text, importance, confidence, correction, message, quote, trimmed };
}

/** Whether `fact` says of itself that it comes besides another value of its slot, which it would end. */
function endsAnother(fact: ChosenFact, told: readonly ChosenFact[], known: readonly KnownSlot[]): boolean {
  const { key, category, text, quote, correction } = fact;
  if (key === null || correction || !(comesBesides(text) || comesBesides(quote))) return false;
  const saidBy = (slot: Pick<KnownSlot, "value" | "text">) => normalValue(slot.value ?? slot.text);
  return [...told, ...known].some(
    (other) => other.key === key && other.category === category && saidBy(other) !== saidBy(fact),
  );
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

function crowdedOut(
  fact: ChosenFact,
  chosen: readonly ChosenFact[],
  rules: FactRules,
): CandidateProblem | null {
  if (restsOnRemoval(fact, rules.removals ?? [])) return "asked_to_forget";
  if (isToBeForgotten(rules.messages[fact.message] ?? "", fact.quote)) return "asked_to_forget";
  if (isTakenBack(fact, rules.messages)) return "asked_to_forget";
  const said = rules.removed?.messages[fact.message];
  if (said && wasRemoved(fact, said, rules.removed?.facts ?? [])) return "removed";
  const ofMessage = chosen.filter(({ message }) => message === fact.message);
  if (ofMessage.some((other) => isSame(other, fact))) return "duplicate";
  if (ofMessage.length >= rules.perMessage) return "turn_cap";
  return chosen.length >= rules.inAll ? "daily_cap" : null;
}

function isSame(first: ChosenFact, second: ChosenFact): boolean {
  if (contentHash(first.text) === contentHash(second.text)) return true;
  return first.key !== null && first.key === second.key && first.category === second.category;
}

function worth({ importance, confidence }: ChosenFact): number {
  return importance * confidence;
}
