import { afterEach, expect, it } from "vitest";
import { freePort } from "../support/free-port.js";
import { guardLoopback } from "../support/loopback-guard.js";

const guard = guardLoopback();
afterEach(guard.end);

it("The guard names the other machine that a test reaches for, once", async () => {
  await expect(fetch(`http://127.0.0.1:${await freePort()}`)).rejects.toThrow();
  guard.check();
  await expect(fetch("https://example.org")).rejects.toThrow();
  expect(guard.check).toThrow(
    /^The test reached for example\.org; tests may use loopback alone\.$/,
  );
  guard.check();
});
