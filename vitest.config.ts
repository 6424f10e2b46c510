import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { limitsMs } from "./test/support/timing.js";
import tsconfig from "./tsconfig.json" with { type: "json" };

// With the embedded database a worker takes up to 1.5 GB; one more than there are cores, since some tests wait for deadlines
// and retries. On a server more wait, and for the server; it accepts 100 connections unless told otherwise, and a file may
// take two dozen.
const cores = availableParallelism();
const maxWorkers = process.env.DATABASE_URL ? Math.min(2 * cores, 4) : Math.min(cores + 1, 8);

/** The packages as they import each other, from their sources. */
const sources = Object.entries(tsconfig.compilerOptions.paths).map(([name, [path = ""]]) => ({
  find: new RegExp(`^${name}$`),
  replacement: resolve(import.meta.dirname, path),
}));

export default defineConfig({
  resolve: { alias: sources },
  test: {
    include: ["test/**/*.test.ts"],
    // By `npm run test:long`.
    exclude: ["**/*.long.test.ts", "**/node_modules/**"],
    globalSetup: "test/support/global-setup.ts",
    setupFiles: [
      "test/support/property-seed.ts",
      "test/support/collect-statements.ts",
      "test/support/loopback-only.ts",
    ],
    testTimeout: limitsMs.test,
    hookTimeout: limitsMs.test,
    expect: { poll: { timeout: limitsMs.step, interval: 10 } },
    maxWorkers,
    // A worker's files share what they import, and its embedded database: both take longer than most files.
    isolate: false,
    // LangChain's checkpointer conformance suite expects describe, it and expect to be global.
    globals: true,
  },
});
