import { isoTimeMs } from "../clock.js";
import type { PersonalField } from "../memories/consent/consent-policy.rule.js";
import {
  type CategoryPolicy,
  categoryMeant,
  categoryOfKind,
  slotKey,
} from "../memories/item/category.rule.js";
import type { Provenance } from "../memories/item/memory.js";
import type { MemoryRelation, WriteConfig } from "../memories/write/write-types.js";
import {
  trimToLength,
  type WritingProblem,
  writingProblems,
} from "../memories/write/writing-constraints.rule.js";
import { createPauses } from "../pauses.js";
import type { Runtime } from "../runtime.js";
import type { SearchRuntime } from "../search/retrieval-options.js";
import { haveSameFigures } from "../text/figures.js";
import { findSaid } from "../text/find-quote.js";
import { contentHash } from "../text/normal-value.js";
import { sharedWords } from "../text/shared-words.js";
import { headOf, visibleText } from "../text/storable-text.js";
import type { TaskRuntime } from "../work/jobs-options.js";
import type { ChosenRemoval } from "./choose-removals.rule.js";
import {
  type LearnedFact,
  type RemovedFact,
  type SaidAt,
  saysSame,
  wasRemoved,
} from "./removed-facts.rule.js";

/** How a statement relates to an existing memory; "new": to none. */
export const factRelations = ["new", "same_as", "updates", "ends", "adds_to"] as const;

/** A model's proposal, unchecked. */
export interface FactCandidate {
  readonly category: string;
  /** A slot has one active value per category and key; null for a plain statement. */
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  /** 1 to 5; below 1: not worth keeping. */
  readonly importance: number;
  /** 0 to 1. */
  readonly confidence: number;
  readonly relation: (typeof factRelations)[number];
  /** Number of the existing memory in the prompt, from 1; then on, of an earlier candidate. */
  readonly target: number | null;
  /** Whether it is the user's plain statement about themselves. */
  readonly statedByUser: boolean;
  readonly personal: PersonalField | null;
  /** First day on which it is true, as "2026-05-02"; null if unknown. */
  readonly since: string | null;
  /** Number of the user's message, from 1, and a quote from it. */
  readonly message: number;
  readonly quote: string;
}

export interface ChosenFact
  extends LearnedFact,
    Pick<FactCandidate, "importance" | "confidence" | "statedByUser" | "personal"> {
  /** Index of the user's message, from 0. */
  readonly message: number;
  readonly relation: MemoryRelation | null;
  /** Midnight, as if in UTC, of the user's day on which it became true; null: when it was said. */
  readonly since: Date | null;
  /** Whether its text was too long and was cut after a sentence. */
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

export const factsActor = "worker:facts";

export type FactsRuntime = Runtime<WriteConfig> & TaskRuntime & SearchRuntime;

/** Scripts that identify languages. Japanese shares one with Chinese. */
const scripts: readonly RegExp[] = [
  /\p{Script=Latin}/gu,
  /\p{Script=Cyrillic}/gu,
  /\p{Script=Greek}/gu,
  /\p{Script=Arabic}/gu,
  /\p{Script=Hebrew}/gu,
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Bopomofo}/gu,
  /\p{Script=Hangul}/gu,
  /\p{Script=Thai}/gu,
  /\p{Script=Devanagari}/gu,
];

/** Fewer letters may only be a name or a word. */
const minLetters = 8;
const scriptCharacters = 20_000;

/**
 * Whether `text` has no letter of `source`'s script, so that their languages differ. False if
 * `source` is short or mixed.
 */
export function leavesScript(source: string, text: string): boolean {
  const head = headOf(source, scriptCharacters);
  const counts = scripts.map((script) => ({ script, letters: countOf(script, head) }));
  const total = counts.reduce((sum, { letters }) => sum + letters, 0);
  const main = counts.find(({ letters }) => letters >= minLetters && letters >= 0.9 * total);
  return (
    main !== undefined && countOf(/\p{L}/gu, text) >= minLetters && countOf(main.script, text) === 0
  );
}

const countOf = (pattern: RegExp, text: string) => text.match(pattern)?.length ?? 0;

/** A memory in the prompt. */
export interface PromptedMemory {
  readonly id: string;
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  /** Whether it waits for the user's consent: it can only be forgotten. */
  readonly waits?: boolean | undefined;
}

export type KnownMemory = PromptedMemory & Provenance;

export interface FactRules {
  readonly policy: CategoryPolicy;
  /** The user's messages, in the order of the prompt. */
  readonly messages: readonly string[];
  /** Existing memories, in the order of the prompt. */
  readonly known: readonly PromptedMemory[];
  readonly minConfidence: number;
  readonly minImportance: number;
  readonly perMessage: number;
  readonly inAll: number;
  /** @default none */
  readonly removals?: readonly ChosenRemoval[] | undefined;
  /** Facts removed since the first message, and the messages' times. @default none */
  readonly removed?:
    | { readonly facts: readonly RemovedFact[]; readonly messages: readonly SaidAt[] }
    | undefined;
}

const maxKeyCharacters = 200;
const maxValueCharacters = 2_000;

const notForFacts: ReadonlySet<string> = new Set(
  Object.entries(categoryOfKind).flatMap(([kind, category]) => (kind === "fact" ? [] : [category])),
);

export function factCategories(policy: CategoryPolicy): string[] {
  return [...policy.categories.keys()].filter((name) => !notForFacts.has(name));
}

/**
 * Chooses the candidates to write, in the order of their messages: of each message the best, by
 * importance × confidence.
 *
 * Category and key decide the slot, whatever the relation: models confuse different things
 * (graphiti #1728). A fact that adds to a slot, or ends it, gets no slot.
 */
export async function chooseFacts(
  candidates: readonly FactCandidate[],
  rules: FactRules,
): Promise<{ chosen: ChosenFact[]; rejected: RejectedFact[] }> {
  const pause = createPauses();
  const rejected: RejectedFact[] = [];
  const checked: ChosenFact[] = [];
  /** Of each candidate, the first one that says the same. */
  const first: number[] = [];
  const firstSaidAt = new Map<ChosenFact, number>();
  for (const [index, candidate] of candidates.entries()) {
    await pause();
    const said = firstSaid(candidates, index, rules.known.length, first);
    first.push(said);
    const result = checkFact(candidate, rules);
    if (typeof result !== "string") {
      const fact = relatedInAnswer(result, candidate, first, rules.known.length);
      checked.push(fact);
      firstSaidAt.set(fact, said);
    } else
      rejected.push({
        problem: result,
        category: categoryMeant(rules.policy, candidate.category)?.name ?? null,
      });
  }
  const best = checked.toSorted((first, second) => worth(second) - worth(first));
  const chosen: ChosenFact[] = [];
  for (const fact of best) {
    await pause();
    const isRepeated = chosen.some((other) => firstSaidAt.get(other) === firstSaidAt.get(fact));
    const related = chosen.find((other) => firstSaidAt.get(other) === fact.relation?.target);
    const problem = isRepeated ? "duplicate" : crowdedOut(fact, chosen, rules, related);
    if (problem) rejected.push({ problem, category: fact.category });
    else chosen.push(fact);
  }
  const saidAt = (fact: ChosenFact) => firstSaidAt.get(fact) as number;
  const inOrder = chosen.toSorted(
    (one, other) => one.message - other.message || saidAt(one) - saidAt(other),
  );
  const places = inOrder.map(saidAt);
  return { chosen: inOrder.map((fact, at) => relatedInPlace(fact, places, at)), rejected };
}

/** `fact`, related to the candidate of the same answer that the model names, if it names one. */
function relatedInAnswer(
  fact: ChosenFact,
  { relation, target }: FactCandidate,
  first: readonly number[],
  known: number,
): ChosenFact {
  const earlier = first[(target ?? 0) - known - 1];
  if (earlier === undefined || relation === "new") return fact;
  return { ...fact, relation: { relation, target: earlier } };
}

/** `fact`, related to the place of a chosen one; to none that is not chosen, or stands after it. */
function relatedInPlace(fact: ChosenFact, places: readonly number[], at: number): ChosenFact {
  const { relation } = fact;
  if (typeof relation?.target !== "number") return fact;
  const target = places.indexOf(relation.target);
  return { ...fact, relation: target < 0 || target >= at ? null : { ...relation, target } };
}

/**
 * The first candidate that says the same by the model's word; other figures say something else.
 * @param first of the candidates before it
 */
function firstSaid(
  candidates: readonly FactCandidate[],
  index: number,
  known: number,
  first: readonly number[],
): number {
  const { relation, target, text } = candidates[index] as FactCandidate;
  const earlier = relation === "same_as" ? (target ?? 0) - known - 1 : -1;
  const said = earlier < index ? candidates[earlier] : undefined;
  return said && haveSameFigures(said.text, text) ? (first[earlier] as number) : index;
}

function checkFact(candidate: FactCandidate, rules: FactRules): ChosenFact | CandidateProblem {
  const category = categoryMeant(rules.policy, candidate.category)?.name;
  if (category === undefined || notForFacts.has(category)) return "unknown_category";
  const message = candidate.message - 1;
  const messageText = rules.messages[message] ?? "";
  const quote = findSaid(messageText, candidate.quote);
  if (quote === null) return "no_evidence";
  const range = rangeProblem(candidate, rules);
  if (range) return range;
  const { slot, value } = slotOf(candidate);
  const fullText = visibleText(candidate.text).trim();
  const text = trimToLength("fact", fullText) ?? fullText;
  const [problem = slotProblem(slot, value)] = writingProblems("fact", text);
  if (problem) return problem;
  if (leavesScript(messageText, text)) return "other_language";
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
    since: dayOf(candidate.since),
    trimmed: text.length < fullText.length,
  };
}

/** No slot for facts that add to a value or end it: they do not replace it. */
function slotOf({ key, value, relation }: FactCandidate) {
  const none = { slot: null, value: null };
  if (key === null || relation === "adds_to" || relation === "ends") return none;
  const slot = slotKey(visibleText(key));
  return slot === null ? none : { slot, value: visibleText(value ?? "").trim() || null };
}

/**
 * Null for a memory that was not shown, waits for consent, has another slot, or has nothing in
 * common with the fact, neither its category nor a word: models confuse numbers.
 */
function relationOf(
  { relation, target, text, quote }: FactCandidate,
  slot: { readonly category: string; readonly key: string | null },
  known: readonly PromptedMemory[],
): MemoryRelation | null {
  const memory = target === null ? undefined : known[target - 1];
  if (relation === "new" || !memory || memory.waits) return null;
  const isOfSlot = memory.key === slot.key && memory.category === slot.category;
  if (slot.key !== null && memory.key !== null && !isOfSlot) return null;
  const isElsewhere = memory.category !== slot.category;
  if (isElsewhere && sharedWords(`${text} ${quote}`, `${memory.text} ${memory.value ?? ""}`) === 0)
    return null;
  return { relation, target: memory.id };
}

/** Models also copy the form of the prompt's dates: "2026-03-03, Tuesday". */
function dayOf(since: string | null): Date | null {
  const [day = ""] = /^[1-9]\d{3}(?:-\d{2}){0,2}(?=$|,)/.exec(since ?? "") ?? [];
  const midnightMs = isoTimeMs(`${day.padEnd(10, "-01")}T00:00:00Z`);
  return midnightMs === null ? null : new Date(midnightMs);
}

function slotProblem(key: string | null, value: string | null): CandidateProblem | null {
  return (key ?? "").length > maxKeyCharacters || (value ?? "").length > maxValueCharacters
    ? "too_long"
    : null;
}

function rangeProblem(candidate: FactCandidate, rules: FactRules): CandidateProblem | null {
  const { importance, confidence } = candidate;
  if (!(importance >= 0 && importance <= 5 && confidence >= 0 && confidence <= 1))
    return "out_of_range";
  if (confidence < rules.minConfidence) return "low_confidence";
  return importance < rules.minImportance ? "low_importance" : null;
}

function crowdedOut(
  fact: ChosenFact,
  chosen: readonly ChosenFact[],
  rules: FactRules,
  related: ChosenFact | undefined,
): CandidateProblem | null {
  if (rules.removals?.some((removal) => isRequested(fact, removal, rules)))
    return "asked_to_forget";
  const message = rules.removed?.messages[fact.message];
  if (message && wasRemoved(fact, message, rules.removed?.facts ?? [])) return "removed";
  const ofMessage = chosen.filter(({ message }) => message === fact.message);
  if (ofMessage.some((other) => other !== related && isSameFact(other, fact))) return "duplicate";
  if (ofMessage.length >= rules.perMessage) return "turn_cap";
  return chosen.length >= rules.inAll ? "daily_cap" : null;
}

/**
 * Whether the quote of `fact` is part of a request to forget, or contains one and repeats the
 * forgotten memory.
 */
function isRequested(
  fact: ChosenFact,
  removal: ChosenRemoval,
  { messages, known }: FactRules,
): boolean {
  if (removal.message !== fact.message) return false;
  const text = (messages[fact.message] ?? "").normalize("NFC");
  const rangeOf = (quote: string) => ({
    from: text.indexOf(quote),
    to: text.indexOf(quote) + quote.length,
  });
  const [request, stated] = [rangeOf(removal.quote), rangeOf(fact.quote)];
  if (stated.to <= request.from || request.to <= stated.from) return false;
  if (stated.from < request.from || request.to < stated.to) return true;
  const forgotten = known.find(({ id }) => id === removal.id);
  return (
    forgotten !== undefined && (fact.relation?.target === forgotten.id || saysSame(fact, forgotten))
  );
}

function isSameFact(first: ChosenFact, second: ChosenFact): boolean {
  if (contentHash(first.text) === contentHash(second.text)) return true;
  return first.key !== null && first.key === second.key && first.category === second.category;
}

const worth = ({ importance, confidence }: ChosenFact) => importance * confidence;
