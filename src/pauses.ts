import { setImmediate } from "node:timers/promises";

const maxStretchMs = 20;

/** Await it between pieces of work: it yields to other requests every 20 ms. */
export function createPauses(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < maxStretchMs) return;
    await setImmediate();
    begun = performance.now();
  };
}
