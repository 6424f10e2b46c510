import { defineConfig } from "vitest/config";
import { citusSuites, notOnCitus } from "./test/lint/citus-suites.js";
import { limitsMs } from "./test/support/timing.js";
import config from "./vitest.config.js";

// By scripts/citus-tests.sh: what must run on Citus as on a plain server. A call takes several times as long there.
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ["test/citus/*.citus.ts", `test/{${citusSuites}}/**/*.test.ts`],
    exclude: [...notOnCitus, "**/node_modules/**"],
    // There is no row-level security on Citus; a sequence that counts a trigger's faults stays on the coordinator; and a deadline
    // of a second is too short there for fifteen checkpoints on two connections.
    testNamePattern:
      /^(?!.*(?:row-level security|that the database refuses|blocks the process beyond all deadlines))/,
    testTimeout: limitsMs.long,
    hookTimeout: limitsMs.long,
    maxWorkers: 2,
  },
});
