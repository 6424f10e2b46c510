import { type CategoryPolicy, categoryOfKind, findCategory } from "./category.js";
import { contentHash } from "./content-hash.js";
import type { CandidateProblem, ChosenFact, FactCandidate, RejectedFact } from "./fact-candidate.js";
import { findQuote } from "./find-quote.js";
import { slotKey } from "./slot-key.js";
import { leavesScript } from "./source-script.js";
import { visibleText } from "./storable-text.js";
import { trimToLength, writingProblems } from "./writing-constraints.js";

/** A slot that is taken already. */
export interface KnownSlot {
  readonly category: string;
  readonly key: string;
  readonly value: string | null;
  readonly text: string;
}

/** What candidates are held against. */
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
 * (graphiti #1728), so the number of a known fact takes no slot from another, and none is a statement of its own.
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
        category: findCategory(rules.policy, candidate.category)?.name ?? null,
      });
  }
  const best = checked.toSorted((first, second) => worth(second) - worth(first));
  const chosen: ChosenFact[] = [];
  for (const fact of best) {
    const problem = crowdedOut(fact, chosen, rules);
    if (problem) rejected.push({ problem, category: fact.category });
    else chosen.push(fact);
  }
  return { chosen: chosen.toSorted((first, second) => first.message - second.message), rejected };
}

function checkFact(candidate: FactCandidate, rules: FactRules): ChosenFact | CandidateProblem {
  const category = findCategory(rules.policy, candidate.category)?.name;
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
