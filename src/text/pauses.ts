import { setImmediate } from "node:timers/promises";

/** Longest stretch of work before others have their turn: a request that waits less is not felt. */
const longestStretchMs = 20;

/** A function to await between two pieces of work: others in this process have their turn after 20 ms of it. */
export function createPauses(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < longestStretchMs) return;
    await setImmediate();
    begun = performance.now();
  };
}
