import { isGraphBubbleUp } from "@langchain/langgraph";
import { MemoryError, type MemoryErrorCode } from "../errors.js";
import { errorLine, errorWords } from "../logger.js";
import { malformedOutput } from "../models/model-failure.js";
import { storable } from "../text/storable-text.js";

/** Why background work did not succeed. */
export interface Failure {
  readonly code: MemoryErrorCode | "UNEXPECTED";
  /** For people, without words of the conversation. */
  readonly message: string;
  /** What the error itself says, which may quote anything. Not for tables, and for logs only where they may hold it. */
  readonly words: string | null;
  /** What the model said instead of an answer. */
  readonly output: string | null;
}

/** Longest output kept, in characters; an answer of more tokens than a model may give. */
const mostOutputCharacters = 100_000;

/** `error` as background work records it. */
export function toFailure(error: unknown): Failure {
  const output = malformedOutput(error);
  return {
    code: MemoryError.is(error) ? error.code : "UNEXPECTED",
    message: errorLine(error),
    words: errorWords(error),
    output: output === null ? null : storable(output.slice(0, mostOutputCharacters)),
  };
}

/** The failure of work that ended without an error and without a result. */
export function ownFailure(message: string): Failure {
  return { code: "UNEXPECTED", message, words: null, output: null };
}

/**
 * `step`'s update, or its error as state, so that a later node records it. Interrupts and other control flow of
 * LangGraph pass.
 */
export async function attempted<Update>(step: () => Promise<Update>): Promise<Update | { error: Failure }> {
  try {
    return await step();
  } catch (error) {
    if (isGraphBubbleUp(error)) throw error;
    return { error: toFailure(error) };
  }
}

/** What logs tell of `failure`; with `content`, what the error itself says too. */
export function failureLine({ message, words }: Failure, { content }: { readonly content: boolean }): string {
  return content && words !== null && words !== message ? `${message} (${words})` : message;
}

/** Longest wait between two tries: an hour, so that a model back from an outage is found the same hour. */
const longestDelayMs = 3_600_000;

/**
 * How long to wait after the `attempts`-th failed try: `firstDelayMs`, then twice as long each time.
 *
 * @param attempts 1 for the first failure.
 */
export function retryDelayMs(attempts: number, firstDelayMs: number): number {
  // 2^22 ms is over an hour, and more doublings would only run into infinity.
  return Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(22, Math.max(0, attempts - 1)));
}
