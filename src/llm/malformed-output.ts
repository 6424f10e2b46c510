/** An error that carries what a model said instead of an answer, as the cause of `MODEL_OUTPUT_INVALID`. */
export function malformed(output: string): Error {
  // Not in the message: logs are no place for what users and models said.
  return Object.assign(new Error("The model's output cannot be used."), { output });
}

/** The output that `error` complains of; null when it complains of something else. */
export function malformedOutput(error: unknown): string | null {
  const cause = error instanceof Error ? (error.cause as { output?: unknown } | undefined) : undefined;
  return typeof cause?.output === "string" ? cause.output : null;
}
