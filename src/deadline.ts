import { maxTimerMs } from "./clock.js";
import { MemoryError } from "./errors.js";

/**
 * Limits the wait for `answer`, not its work. Timers run before I/O, so an answer that came while
 * the event loop was blocked is read first and counts.
 * @param late makes the error at the deadline
 */
export function inTime<Result>(
  timeoutMs: number,
  answer: Promise<Result>,
  late: () => Error,
): Promise<Result> {
  let timer: NodeJS.Timeout;
  let turn: NodeJS.Immediate | undefined;
  const deadline = new Promise<never>((_, reject) => {
    const refuse = () => reject(late());
    timer = setTimeout(
      () => {
        turn = setImmediate(refuse);
      },
      Math.min(timeoutMs, maxTimerMs),
    );
  });
  return Promise.race([answer, deadline]).finally(() => {
    clearTimeout(timer);
    clearImmediate(turn);
  });
}

/**
 * Rejects with `MODEL_FAILED` after `timeoutMs`, also for models that ignore the signal, which
 * aborts then.
 */
export async function withDeadline<Result>(
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const message = `The model did not answer within ${timeoutMs} ms.`;
  try {
    const answer = call(controller.signal);
    return await inTime(timeoutMs, answer, () => new MemoryError("MODEL_FAILED", message));
  } catch (error) {
    controller.abort();
    throw error;
  }
}
