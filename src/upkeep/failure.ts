import { MemoryError, type MemoryErrorCode } from "../errors.js";
import { malformedOutput } from "../llm/malformed-output.js";

/** Why background work did not succeed. */
export interface Failure {
  readonly code: MemoryErrorCode | "UNEXPECTED";
  readonly message: string;
  /** What the model said instead of an answer. */
  readonly output: string | null;
}

/** A try that ended with the worker; found when one more would be too many. */
export const workerStopped: Failure = {
  code: "UNEXPECTED",
  message: "The worker stopped before it was done.",
  output: null,
};

/** Longest error kept: some providers answer with whole pages of HTML. */
const mostErrorCharacters = 2_000;
/** Longest output kept; an answer of more tokens than a model may give. */
const mostOutputCharacters = 100_000;

/** `error` as it is kept in the tables. */
export function toFailure(error: unknown): Failure {
  const output = malformedOutput(error);
  return {
    code: MemoryError.is(error) ? error.code : "UNEXPECTED",
    message: storable(error instanceof Error ? error.message : String(error), mostErrorCharacters),
    output: output === null ? null : storable(output, mostOutputCharacters),
  };
}

function storable(text: string, mostCharacters: number): string {
  return text
    .slice(0, mostCharacters)
    .replaceAll("\u0000", "")
    .replace(/\p{Surrogate}/gu, "\uFFFD");
}
