import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { limitsMs } from "./test/support/timing.js";

// With the embedded database a worker takes up to 1.5 GB. A server accepts 100 connections unless told otherwise, and
// a file may take two dozen.
const mostWorkers = process.env.DATABASE_URL ? 4 : 8;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // By `npm run test:long`.
    exclude: ["**/*.long.test.ts", "**/node_modules/**"],
    globalSetup: "test/support/global-setup.ts",
    setupFiles: "test/support/property-seed.ts",
    testTimeout: limitsMs.test,
    hookTimeout: limitsMs.test,
    expect: { poll: { timeout: limitsMs.step, interval: 10 } },
    // One more than there are cores: some tests wait for deadlines and retries, and do nothing meanwhile.
    maxWorkers: Math.min(availableParallelism() + 1, mostWorkers),
    // A worker's files share what they import, and its embedded database: both take longer than most files.
    isolate: false,
    // LangChain's checkpointer conformance suite expects describe, it and expect to be global.
    globals: true,
  },
});
