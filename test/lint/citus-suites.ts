/** Folders of tests that must pass on Citus as on a plain server. */
export const citusSuites = [
  "prompt",
  "langgraph/checkpointer",
  "search",
  "notes",
  "reflection/consolidation",
  "store",
  "retention/forgetting",
  "transfer",
  "remember",
];

/** They ask for plans of a plain server. */
export const notOnCitus = ["**/plans.test.ts", "**/rows-read.test.ts", "**/*.long.test.ts"];
