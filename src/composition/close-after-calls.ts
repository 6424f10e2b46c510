import { inTime } from "../deadline.js";
import type { Memory } from "../memory.js";

/** Enough for a turn's calls, which take a second; an import, which takes an hour, is cut off. */
const maxWaitMs = 10_000;

const late = () => new Error("Calls were cut off.");

type Call = (...args: unknown[]) => unknown;

/** Makes `close` wait for running calls, at most `waitMs`. */
export function closeAfterCalls(memory: Memory, waitMs = maxWaitMs): Memory {
  const running = new Set<Promise<unknown>>();
  const tracked = (result: unknown) => {
    if (!(result instanceof Promise)) return result;
    running.add(result);
    return result.finally(() => running.delete(result));
  };
  const trackCalls = (api: object): object => {
    const members = Reflect.ownKeys(api).map((name) => {
      const member: unknown = Reflect.get(api, name);
      if (typeof member !== "function") return [name, trackCalls(member as object)];
      return [name, (...args: unknown[]) => tracked((member as Call)(...args))];
    });
    return Object.fromEntries(members);
  };
  const { policy, close, ...calls } = memory;
  return {
    ...(trackCalls(calls) as typeof calls),
    policy,
    close: once(() => {
      const ended = inTime(waitMs, Promise.allSettled(running), late);
      return ended.catch(() => {}).then(close);
    }),
  };
}

/** Calls `make` the first time only; each call returns the same result. */
export function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | undefined;
  return () => {
    made ??= { result: make() };
    return made.result;
  };
}
