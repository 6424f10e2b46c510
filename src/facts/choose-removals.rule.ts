import { createPauses } from "../pauses.js";
import { findSaid } from "../text/find-quote.js";

/** A model's proposal, unchecked. */
export interface RemovalCandidate {
  /** Number of the memory in the prompt, from 1. */
  readonly memory: number;
  /** Number of the user's message, from 1, and their request in it. */
  readonly message: number;
  readonly quote: string;
}

export interface ChosenRemoval {
  readonly id: string;
  /** Index of the user's message, from 0. */
  readonly message: number;
  readonly quote: string;
}

/** "bulk": more than one message may remove. */
export type RemovalProblem = "unknown_memory" | "no_evidence" | "bulk";

export interface RemovalRules {
  /** Texts of messages and ids of memories, in the order of the prompt. */
  readonly messages: readonly string[];
  readonly memories: readonly string[];
  readonly perMessage: number;
}

/**
 * Chooses the removals to apply, each once. The user must have said the quote, not only repeated
 * it. A message with more than `perMessage` proposals removes nothing: no model decides to forget
 * everything.
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
  const valid = checked.filter((each) => typeof each !== "string");
  const all = [...new Map(valid.map((removal) => [removal.id, removal])).values()];
  const isBulk = (one: ChosenRemoval) =>
    all.filter(({ message }) => message === one.message).length > rules.perMessage;
  const bulk = all.filter(isBulk).map(() => "bulk" as const);
  return { chosen: all.filter((removal) => !isBulk(removal)), rejected: [...rejected, ...bulk] };
}

function checkRemoval(
  candidate: RemovalCandidate,
  rules: RemovalRules,
): ChosenRemoval | RemovalProblem {
  const id = rules.memories[candidate.memory - 1];
  if (id === undefined) return "unknown_memory";
  const message = candidate.message - 1;
  const quote = findSaid(rules.messages[message] ?? "", candidate.quote);
  return quote === null ? "no_evidence" : { id, message, quote };
}
