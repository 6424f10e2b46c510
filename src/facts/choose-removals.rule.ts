import { asksToForget, isSaidBeside } from "../text/asks-to-forget.js";
import { findQuote, sentencesAround } from "../text/find-quote.js";

/** A memory that a model takes the user to want forgotten. Nothing in it is believed before `chooseRemovals` has looked at it. */
export interface RemovalCandidate {
  /** Number of the memory among those that the model was shown, counted from 1. */
  readonly memory: number;
  /** The user's words that ask for it, and the number of the message that has them, counted from 1. */
  readonly evidence: { readonly message: number; readonly quote: string };
}

/** A memory that may be hidden. */
export interface ChosenRemoval {
  readonly id: string;
  /** Index of the message that asks for it. */
  readonly message: number;
  /** The words, as they stand there. */
  readonly quote: string;
}

/** Why a memory is not hidden. "bulk": more than a message may have hidden, or everything. */
export type RemovalProblem = "unknown_memory" | "no_evidence" | "no_request" | "bulk";

/** What removals are compared with. */
export interface RemovalRules {
  /** Texts of the user's messages, in the order in which the model was given them. */
  readonly messages: readonly string[];
  /** Ids of the memories, likewise. */
  readonly memories: readonly string[];
  /** Most memories that one message may have hidden. */
  readonly perMessage: number;
}

/**
 * The removals that may be done, each once, and why the others may not: the user's own words must ask for it. A message for
 * which more are proposed than one may have, or that asks to forget everything, has none: no model decides on that.
 */
export function chooseRemovals(
  candidates: readonly RemovalCandidate[],
  rules: RemovalRules,
): { chosen: ChosenRemoval[]; rejected: RemovalProblem[] } {
  const checked = candidates.map((candidate) => checkRemoval(candidate, rules));
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
  const quote = findQuote(text, evidence.quote);
  if (quote === null) return "no_evidence";
  if (asksToForget(text) === "all") return "bulk";
  return asksToForget(sentencesAround(text, quote)) === null ? "no_request" : { id, message, quote };
}

/** Whether a fact rests on the very words that ask to forget it, and not on what is said beside: "…, I live in Rome now". */
export function restsOnRemoval(
  fact: { readonly message: number; readonly quote: string },
  removals: readonly ChosenRemoval[],
): boolean {
  return removals.some(
    ({ message, quote }) =>
      message === fact.message &&
      (fact.quote.includes(quote) || (quote.includes(fact.quote) && !isSaidBeside(quote, fact.quote))),
  );
}

/** Whether a message after that of `fact` asks to forget the very words that it rests on: then there was nothing to remove yet. */
export function isTakenBack(
  fact: { readonly message: number; readonly quote: string },
  messages: readonly string[],
): boolean {
  return messages.slice(fact.message + 1).some((text) => {
    const again = asksToForget(text) === "some" ? findQuote(text, fact.quote) : null;
    return again !== null && asksToForget(sentencesAround(text, again)) === "some";
  });
}
