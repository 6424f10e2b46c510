import { defineConfig } from "vitest/config";
import { limitsMs } from "./test/support/timing.js";
import config from "./vitest.config.js";

// Attacks that take seconds each: a change is tested against them once, after the tests. One at a time, since each
// may take all the memory and time that there is.
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ["test/attack/**/*.attack.ts"],
    testTimeout: limitsMs.long,
    maxWorkers: 1,
  },
});
