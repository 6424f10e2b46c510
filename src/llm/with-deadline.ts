import { longestTimerMs } from "../clock.js";
import { MemoryError } from "../errors.js";

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
