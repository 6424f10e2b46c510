import { setTimeout as sleep } from "node:timers/promises";

/** Holds callers back until it opens. */
export interface Gate {
  /**
   * Resolves when the gate is or becomes open. Rejects with the signal's reason when that aborts
   * first.
   */
  wait(signal?: AbortSignal): Promise<void>;
  /** Lets everyone through until {@link Gate.close}. */
  open(): void;
  /** Holds back later callers. */
  close(): void;
  /** Callers that wait now: shows that a call has arrived. */
  readonly waiting: number;
}

/**
 * A gate for holding back a model call.
 *
 * ```ts
 * const gate = createGate();
 * const model = new OfflineChatModel({ gate });
 * const summary = model.invoke("…");   // waits at the gate
 * gate.open();
 * await summary;
 * ```
 * @param options.open whether it starts open. @default false
 */
export function createGate(options: { readonly open?: boolean } = {}): Gate {
  let isOpen = options.open ?? false;
  const passes = new Set<() => void>();

  return {
    async wait(signal) {
      if (isOpen) return signal?.throwIfAborted();
      let pass = (): void => {};
      const opened = new Promise<void>((resolve) => {
        pass = resolve;
      });
      passes.add(pass);
      try {
        await untilAborted(opened, signal);
      } finally {
        passes.delete(pass);
      }
    },
    open() {
      isOpen = true;
      for (const pass of passes) pass();
      passes.clear();
    },
    close() {
      isOpen = false;
    },
    get waiting() {
      return passes.size;
    },
  };
}

/** Rejects with the signal's reason as soon as it aborts; `work` continues. */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return work;
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Resolves after `durationMs`; rejects with the signal's reason when it aborts first. */
export async function pause(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (durationMs <= 0) return;
  try {
    await sleep(durationMs, undefined, signal ? { signal } : {});
  } catch (error) {
    // Node wraps the reason, which callers compare.
    signal?.throwIfAborted();
    throw error;
  }
}
