import { createHash } from "node:crypto";
import { MemoryError } from "../errors.js";
import { isStorable } from "../text/storable-text.js";
import type { Scope } from "./scope.js";

/** A conversation and whom it belongs to. */
export interface ThreadAddress {
  readonly scope: Scope;
  readonly threadId: string;
}

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

/**
 * Whose the threads of runs are that name nobody, such as those of a graph without memory. No scope that is given can
 * be this one, since ids may not be blank.
 */
export const nobody: Scope = { tenantId: " ", userId: " " };

/** How the names begin under which checkpoints are kept where the thread id itself is taken. */
export const ownNamePrefix = "mnemograph:";

/** A user's message in a graph's state. */
export interface SaidMessage {
  readonly id: string;
  readonly text: string;
}

/** Tells a message from every other, also from one with the same id: ids can be foreseen, and taken. */
export function saidDigest({ id, text }: SaidMessage): string {
  return createHash("sha256")
    .update(JSON.stringify([id, text]))
    .digest("base64");
}
