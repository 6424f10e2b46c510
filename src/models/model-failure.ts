import { longestTimerMs } from "../clock.js";
import { MemoryError } from "../errors.js";

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

/**
 * `call`'s result, or a `MODEL_TIMEOUT` after `timeoutMs`.
 *
 * The signal asks the model to stop; not waiting for it covers models that ignore signals.
 */
export async function withDeadline<Result>(
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        reject(new MemoryError("MODEL_TIMEOUT", `The model did not answer within ${timeoutMs} ms.`));
        controller.abort();
      },
      Math.min(timeoutMs, longestTimerMs),
    );
  });
  try {
    return await Promise.race([call(controller.signal), deadline]);
  } finally {
    clearTimeout(timer);
  }
}
