import { contentHash, normalValue } from "../text/normal-value.js";

export interface RemovedFact extends Omit<LearnedFact, "quote"> {
  /** Null also after a purge, which keeps no key. */
  readonly key: string | null;
  readonly removedAt: Date;
  /** Its words, and the messages of this thread that it came from; none after a purge. */
  readonly quote: string | null;
  readonly seqs: readonly number[];
}

/** A fact, and the user's words that it rests on, as in their message. */
export interface LearnedFact {
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  readonly quote: string;
}

export interface SaidAt {
  readonly seq: number;
  readonly saidAt: Date;
}

/**
 * Whether `fact`, of the message `said`, was removed after that was said: by its text, its value, or its quote. Retried
 * work reads messages again, and must not bring back what was removed meanwhile.
 */
export function wasRemoved(fact: LearnedFact, said: SaidAt, removed: readonly RemovedFact[]): boolean {
  return removed.some(
    (gone) => gone.removedAt > said.saidAt && (saysSame(fact, gone) || restsOnSame(fact, said, gone)),
  );
}

export function saysSame(fact: LearnedFact, gone: Pick<RemovedFact, "category" | "key" | "value" | "text">): boolean {
  if (contentHash(fact.text) === contentHash(gone.text)) return true;
  if (fact.key === null || fact.category !== gone.category) return false;
  if (fact.value === null || gone.value === null) return false;
  return (gone.key ?? fact.key) === fact.key && normalValue(fact.value) === normalValue(gone.value);
}

function restsOnSame({ quote }: LearnedFact, { seq }: SaidAt, gone: RemovedFact): boolean {
  if (gone.quote === null || !gone.seqs.includes(seq)) return false;
  return gone.quote.includes(quote) || quote.includes(gone.quote);
}
