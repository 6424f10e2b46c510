/** Which memories were learned from which messages. */
export interface MemorySources {
  add(ref: number, thread: number, seqs: readonly number[]): void;
  remove(ref: number, thread: number, seqs: readonly number[]): void;
  /** Refs of the memories learned from a message, ascending; undefined for none. */
  learnedFrom(thread: number, seq: number): readonly number[] | undefined;
  /** Whether any memory was learned in the thread. */
  isLearnedThread(thread: number): boolean;
  readonly bytes: number;
}

/** What a message takes with its place in a map, and a thread with its own. */
const messageBytes = 56;
const threadBytes = 260;

/** No memories. */
export function memorySources(): MemorySources {
  /** By thread and seq. Most messages are the source of one memory: then it stands there alone. */
  const threads = new Map<number, Map<number, number | readonly number[]>>();
  let messages = 0;
  let more = 0;

  const refsOf = (known: number | readonly number[] | undefined): readonly number[] =>
    typeof known === "number" ? [known] : (known ?? []);
  const set = (thread: Map<number, number | readonly number[]>, seq: number, refs: readonly number[]) => {
    const before = refsOf(thread.get(seq));
    messages += Math.min(1, refs.length) - Math.min(1, before.length);
    more += refs.length - before.length;
    if (refs.length === 0) thread.delete(seq);
    else thread.set(seq, refs.length === 1 ? (refs[0] as number) : refs);
  };
  return {
    add(ref, thread, seqs) {
      const known = threads.get(thread) ?? new Map<number, number | readonly number[]>();
      if (seqs.length > 0) threads.set(thread, known);
      for (const seq of new Set(seqs)) {
        set(
          known,
          seq,
          [...refsOf(known.get(seq)), ref].sort((first, second) => first - second),
        );
      }
    },
    remove(ref, thread, seqs) {
      const known = threads.get(thread);
      if (known === undefined) return;
      for (const seq of new Set(seqs)) {
        set(
          known,
          seq,
          refsOf(known.get(seq)).filter((other) => other !== ref),
        );
      }
      if (known.size === 0) threads.delete(thread);
    },
    learnedFrom(thread, seq) {
      const known = threads.get(thread)?.get(seq);
      return known === undefined ? undefined : refsOf(known);
    },
    isLearnedThread: (thread) => threads.has(thread),
    get bytes() {
      return threadBytes * threads.size + messageBytes * messages + 24 * (more - messages);
    },
  };
}
