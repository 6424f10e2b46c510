import type { Memory } from "./memory.js";

/** A turn's calls take a second. An import takes an hour, which nobody waits for who ends a process. */
const mostWaitMs = 10_000;

type Call = (...args: unknown[]) => unknown;

/** Closes `memory` once the calls that began before have ended, or after `waitMs`. */
export function closeAfterCalls(memory: Memory, waitMs = mostWaitMs): Memory {
  const underWay = new Set<Promise<unknown>>();
  const noted = (result: unknown) => {
    if (!(result instanceof Promise)) return result;
    underWay.add(result);
    return result.finally(() => underWay.delete(result));
  };
  const { policy, close, ...calls } = memory;
  let closing: Promise<void> | undefined;
  return {
    ...(noting(calls, noted) as typeof calls),
    policy,
    close() {
      closing ??= within(waitMs, Promise.allSettled(underWay)).then(close);
      return closing;
    },
  };
}

function noting(api: object, noted: (result: unknown) => unknown): object {
  const members = Reflect.ownKeys(api).map((name) => {
    const member: unknown = Reflect.get(api, name);
    if (typeof member !== "function") return [name, noting(member as object, noted)];
    return [name, (...args: unknown[]) => noted((member as Call)(...args))];
  });
  return Object.fromEntries(members);
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
