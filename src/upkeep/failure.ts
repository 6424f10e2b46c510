import { MemoryError, type MemoryErrorCode } from "../errors.js";
import { malformedOutput } from "../llm/malformed-output.js";
import { errorLine, errorWords } from "../logger.js";

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

/** A try that ended with the worker; found when one more would be too many. */
export const workerStopped: Failure = {
  code: "UNEXPECTED",
  message: "The worker stopped before it was done.",
  words: null,
  output: null,
};

/** Longest output kept; an answer of more tokens than a model may give. */
const mostOutputCharacters = 100_000;

/** `error` as background work records it. */
export function toFailure(error: unknown): Failure {
  const output = malformedOutput(error);
  return {
    code: MemoryError.is(error) ? error.code : "UNEXPECTED",
    message: errorLine(error),
    words: errorWords(error),
    output: output === null ? null : storable(output, mostOutputCharacters),
  };
}

/** What logs tell of `failure`; with `content`, what the error itself says too. */
export function failureLine({ message, words }: Failure, { content }: { readonly content: boolean }): string {
  return content && words !== null && words !== message ? `${message} (${words})` : message;
}

function storable(text: string, mostCharacters: number): string {
  return text
    .slice(0, mostCharacters)
    .replaceAll("\u0000", "")
    .replace(/\p{Surrogate}/gu, "\uFFFD");
}
