import { contentHash, normalValue } from "../text/normal-value.js";

export interface RemovedFact extends Omit<LearnedFact, "quote"> {
  /** Null also after a purge. */
  readonly key: string | null;
  readonly removedAt: Date;
  /** Its quote and its source messages in this thread; none after a purge. */
  readonly quote: string | null;
  readonly seqs: readonly number[];
}

export interface LearnedFact {
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  /** Verbatim from the user's message. */
  readonly quote: string;
}

export interface SaidAt {
  readonly seq: number;
  readonly saidAt: Date;
}

/**
 * Whether the text, value or quote of `fact` was removed after `message`: retries read messages
 * again, and must not restore removed facts.
 */
export function wasRemoved(
  fact: LearnedFact,
  message: SaidAt,
  removed: readonly RemovedFact[],
): boolean {
  const later = removed.filter(({ removedAt }) => removedAt > message.saidAt);
  return later.some((other) => saysSame(fact, other) || hasSameQuote(fact, message, other));
}

export function saysSame(
  fact: LearnedFact,
  other: Pick<RemovedFact, "category" | "key" | "value" | "text">,
): boolean {
  if (contentHash(fact.text) === contentHash(other.text)) return true;
  if (fact.key === null || fact.category !== other.category) return false;
  if (fact.value === null || other.value === null) return false;
  return (
    (other.key ?? fact.key) === fact.key && normalValue(fact.value) === normalValue(other.value)
  );
}

function hasSameQuote({ quote }: LearnedFact, { seq }: SaidAt, removed: RemovedFact): boolean {
  if (removed.quote === null || !removed.seqs.includes(seq)) return false;
  return removed.quote.includes(quote) || quote.includes(removed.quote);
}
