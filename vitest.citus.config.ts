import { defineConfig } from "vitest/config";
import { limitsMs } from "./test/support/timing.js";
import config from "./vitest.config.js";

const suites = "turns,langgraph/checkpointer,search,notes,consolidation,store,forgetting,transfer";

// By scripts/citus-tests.sh: what must run on Citus as on a plain server. A call takes several times as long there.
export default defineConfig({
  test: {
    ...config.test,
    include: ["test/citus/*.citus.ts", `test/{${suites}}/**/*.test.ts`],
    // They ask for plans of a plain server.
    exclude: [
      "**/plans.test.ts",
      "**/rows-read.test.ts",
      "**/*.long.test.ts",
      "**/node_modules/**",
    ],
    // There is none on Citus; and a sequence that counts a trigger's faults stays on the coordinator.
    testNamePattern: /^(?!.*(?:row-level security|that the database refuses))/,
    testTimeout: limitsMs.long,
    hookTimeout: limitsMs.long,
    maxWorkers: 2,
  },
});
