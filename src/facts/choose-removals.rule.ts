import { findSaid } from "../text/find-quote.js";
import { createPauses } from "../text/pauses.js";

/** A memory that the user wants forgotten, by a model. `chooseRemovals` checks all of it. */
export interface RemovalCandidate {
  /** Number of the memory in the prompt, counted from 1. */
  readonly memory: number;
  /** Number of the user's message, counted from 1. */
  readonly message: number;
  /** The user's words that ask for it. */
  readonly quote: string;
}

export interface ChosenRemoval {
  readonly id: string;
  readonly message: number;
  readonly quote: string;
}

/** "bulk": more than one message may hide. */
export type RemovalProblem = "unknown_memory" | "no_evidence" | "bulk";

export interface RemovalRules {
  /** The user's messages, in the order of the prompt. */
  readonly messages: readonly string[];
  /** Ids, in the order of the prompt. */
  readonly memories: readonly string[];
  readonly perMessage: number;
}

/**
 * The removals to do, each once, and why not the others: the user must have said the words, and not only quoted them. A
 * message with more than `perMessage` proposals hides none: no model decides to forget everything.
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
  const fitting = new Map(checked.flatMap((each) => (typeof each === "string" ? [] : [[each.id, each] as const])));
  const all = [...fitting.values()];
  const isBulk = (of: ChosenRemoval) => all.filter(({ message }) => message === of.message).length > rules.perMessage;
  rejected.push(...all.filter(isBulk).map(() => "bulk" as const));
  return { chosen: all.filter((removal) => !isBulk(removal)), rejected };
}

function checkRemoval(candidate: RemovalCandidate, rules: RemovalRules): ChosenRemoval | RemovalProblem {
  const id = rules.memories[candidate.memory - 1];
  if (id === undefined) return "unknown_memory";
  const message = candidate.message - 1;
  const quote = findSaid(rules.messages[message] ?? "", candidate.quote);
  return quote === null ? "no_evidence" : { id, message, quote };
}
