/** One time that something was said. */
export interface ConsentSignal {
  /** The owner's turn. */
  readonly turn: number;
  /** The message, where it is known. */
  readonly threadId?: string | undefined;
  readonly seq?: number | undefined;
}

/**
 * Those of `signals` that are independent of all before them: two messages, or two turns where a message is not
 * known. An agent that repeats what one message said adds nothing.
 */
export function independentSignals(signals: readonly ConsentSignal[]): ConsentSignal[] {
  const kept: ConsentSignal[] = [];
  for (const signal of signals) if (kept.every((other) => areIndependent(other, signal))) kept.push(signal);
  return kept;
}

function areIndependent(one: ConsentSignal, other: ConsentSignal): boolean {
  const known = one.seq !== undefined && other.seq !== undefined;
  return known ? one.seq !== other.seq || one.threadId !== other.threadId : one.turn !== other.turn;
}
