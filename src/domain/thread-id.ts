import { MemoryError } from "../errors.js";
import { isStorable } from "./storable-text.js";

/**
 * `input` as a thread id: any text that is not blank.
 *
 * @throws MemoryError `THREAD_REQUIRED`
 */
export function parseThreadId(input: unknown): string {
  if (typeof input === "string" && input.trim() !== "" && isStorable(input)) return input;
  throw new MemoryError(
    "THREAD_REQUIRED",
    "Memory needs a thread id that is text and not blank: pass { configurable: { thread_id: … } } to the graph.",
  );
}

/** The refusal to touch a thread of somebody else; it does not say whose. */
export function threadForbidden(threadId: string): MemoryError {
  return new MemoryError(
    "THREAD_FORBIDDEN",
    `Thread "${threadId}" belongs to another scope. ` +
      "A thread stays with the tenant, user and app that first used it: use another thread id, or the scope it was made in.",
  );
}
