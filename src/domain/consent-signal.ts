/** One time that something was said. */
export interface ConsentSignal {
  /** The owner's turn. */
  readonly turn: number;
  /** The message, where it is known. */
  readonly threadId?: string | undefined;
  readonly seq?: number | undefined;
  /** The program's call that brought it, where the words are the program's own or its user's. */
  readonly call?: string | undefined;
}

/**
 * Those of `signals` that are independent of all before them: two messages; two calls of a program that names none; or
 * else two turns. An agent that repeats what one message said adds nothing.
 */
export function independentSignals(signals: readonly ConsentSignal[]): ConsentSignal[] {
  const kept: ConsentSignal[] = [];
  for (const signal of signals) if (kept.every((other) => areIndependent(other, signal))) kept.push(signal);
  return kept;
}

function areIndependent(one: ConsentSignal, other: ConsentSignal): boolean {
  if (one.seq !== undefined && other.seq !== undefined)
    return one.seq !== other.seq || one.threadId !== other.threadId;
  if (one.seq === undefined && other.seq === undefined && one.call !== undefined && other.call !== undefined)
    return one.call !== other.call;
  return one.turn !== other.turn;
}
