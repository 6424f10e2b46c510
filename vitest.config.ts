import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/support/global-setup.ts",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: "100%",
    isolate: false,
    // LangChain's checkpointer conformance suite expects describe, it and expect to be global.
    globals: true,
  },
});
