import { untilAborted } from "./until-aborted.js";

/** Holds callers back until it is opened. */
export interface Gate {
  /** Resolves at once while the gate is open, else when it opens; rejects with the signal's reason when that aborts first. */
  wait(signal?: AbortSignal): Promise<void>;
  /** Lets everyone waiting through, and everyone who comes after, until {@link Gate.close}. */
  open(): void;
  close(): void;
  /** How many are waiting now: a way to see that a held call has arrived. */
  readonly waiting: number;
}

/**
 * A gate for holding a model call back until told.
 *
 * ```ts
 * const gate = createGate();
 * const model = new OfflineChatModel({ gate });
 * const summary = model.invoke("…");   // arrives at the gate and stays there
 * gate.open();
 * await summary;
 * ```
 *
 * @param options.open whether it starts open. @default false
 */
export function createGate(options: { open?: boolean } = {}): Gate {
  let isOpen = options.open ?? false;
  const held = new Set<() => void>();

  return {
    async wait(signal) {
      if (isOpen) return signal?.throwIfAborted();
      let pass = (): void => {};
      const opened = new Promise<void>((resolve) => {
        pass = resolve;
      });
      held.add(pass);
      try {
        await untilAborted(opened, signal);
      } finally {
        held.delete(pass);
      }
    },
    open() {
      isOpen = true;
      for (const pass of held) pass();
      held.clear();
    },
    close() {
      isOpen = false;
    },
    get waiting() {
      return held.size;
    },
  };
}
