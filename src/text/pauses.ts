import { setImmediate } from "node:timers/promises";

/** A request that waits less is not felt. */
const longestStretchMs = 20;

/** To await between pieces of work: other requests have their turn after 20 ms of it. */
export function createPauses(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < longestStretchMs) return;
    await setImmediate();
    begun = performance.now();
  };
}
