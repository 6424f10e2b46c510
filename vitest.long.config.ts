import { defineConfig } from "vitest/config";
import config from "./vitest.config.js";

// Tests that start programs, or try very many cases: half of the time that all take, and seldom what a change breaks first.
export default defineConfig({
  ...config,
  test: { ...config.test, include: ["test/**/*.long.test.ts"], exclude: ["**/node_modules/**"] },
});
