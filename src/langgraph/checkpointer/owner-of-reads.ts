import { AsyncLocalStorage } from "node:async_hooks";
import type { ThreadAddress } from "../../scope/scope.js";

/** A read that named its owner, for the reads of subgraphs that LangGraph makes within it. */
export interface NamedRead {
  readonly asked: ThreadAddress;
  isOpen: boolean;
}

/**
 * Whose state LangGraph reads when it names nobody. `getState` reads a thread by the caller's
 * config, then its subgraphs by thread id and namespace alone. All these reads share one async
 * context, which no other `getState` has, and nothing but microtasks lies between them. So the owner
 * is known to them alone: a later read in the same context finds the read closed.
 */
export function createOwnerOfReads() {
  const reads = new AsyncLocalStorage<NamedRead>();
  return {
    /** Begins a read. Call it before the first `await`: it enters the caller's async context. */
    begin(asked: ThreadAddress): NamedRead {
      const read = { asked, isOpen: false };
      reads.enterWith(read);
      return read;
    },
    /** Lets LangGraph go on with subgraphs until the next turn of the event loop. */
    open(read: NamedRead): void {
      read.isOpen = true;
      setImmediate(() => {
        read.isOpen = false;
      }).unref?.();
    },
    /** The open read of this thread that the current one is part of. */
    current(threadId: string): NamedRead | undefined {
      const read = reads.getStore();
      return read?.isOpen && read.asked.threadId === threadId ? read : undefined;
    },
  };
}
