import { findQuote, findSaid } from "../text/find-quote.js";
import { createPauses } from "../text/pauses.js";

/** A memory that the user wants forgotten, by a model. `chooseRemovals` checks all of it. */
export interface RemovalCandidate {
  /** Number of the memory in the prompt, counted from 1. */
  readonly memory: number;
  /** The user's words, and the number of their message, counted from 1. */
  readonly evidence: { readonly message: number; readonly quote: string };
}

export interface ChosenRemoval {
  readonly id: string;
  readonly message: number;
  readonly quote: string;
}

/** "bulk": more than one message may hide, or everything. */
export type RemovalProblem = "unknown_memory" | "no_evidence" | "no_request" | "bulk";

export interface RemovalRules {
  /** The user's messages, in the order of the prompt. */
  readonly messages: readonly string[];
  /** Ids, in the order of the prompt. */
  readonly memories: readonly string[];
  readonly perMessage: number;
}

/**
 * The removals to do, each once, and why not the others: the user's own words must ask for it. A message with more than
 * `perMessage` proposals, or that asks to forget everything, hides none: no model decides on that.
 */
export async function chooseRemovals(
  candidates: readonly RemovalCandidate[],
  rules: RemovalRules,
): Promise<{ chosen: ChosenRemoval[]; rejected: RemovalProblem[] }> {
  const checked: (ChosenRemoval | RemovalProblem)[] = [];
  const pause = createPauses();
  for (const candidate of candidates) {
    await pause();
    checked.push(checkRemoval(candidate, rules));
  }
  const rejected = checked.filter((each) => typeof each === "string");
  const fitting = new Map(
    checked.flatMap((each) => (typeof each === "string" ? [] : [[each.id, each] as const])),
  );
  const all = [...fitting.values()];
  const isBulk = (of: ChosenRemoval) =>
    all.filter(({ message }) => message === of.message).length > rules.perMessage;
  rejected.push(...all.filter(isBulk).map(() => "bulk" as const));
  return { chosen: all.filter((removal) => !isBulk(removal)), rejected };
}

function checkRemoval(candidate: RemovalCandidate, rules: RemovalRules): ChosenRemoval | RemovalProblem {
  const { memory, evidence } = candidate;
  const id = rules.memories[memory - 1];
  if (id === undefined) return "unknown_memory";
  const message = evidence.message - 1;
  const text = rules.messages[message] ?? "";
  const quote = findSaid(text, evidence.quote);
  if (quote === null) return "no_evidence";
  return { id, message, quote };
}

/** Whether a fact quotes the request to forget itself in `text`, and not what was said beside it: "…, I live in Rome now". */
export function restsOnRemoval(
  fact: { readonly message: number; readonly quote: string },
  removals: readonly ChosenRemoval[],
): boolean {
  return removals.some(({ message, quote }) => {
    if (message !== fact.message) return false;
    return fact.quote.includes(quote) || findQuote(quote, fact.quote) !== null;
  });
}
