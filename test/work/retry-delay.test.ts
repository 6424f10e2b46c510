import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { retryDelayMs } from "../../src/models/model-pause.js";

describe("retryDelayMs", () => {
  it("retryDelayMs never shrinks and never exceeds an hour, however many attempts there were", () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5_000 }),
        fc.integer({ min: 0, max: 10_000_000 }),
        (attempts, first) => {
          const delay = retryDelayMs(attempts, first);
          expect(delay).toBeLessThanOrEqual(3_600_000);
          expect(delay).toBeLessThanOrEqual(retryDelayMs(attempts + 1, first));
          expect(Number.isNaN(delay)).toBe(false);
        },
      ),
    ));
});
