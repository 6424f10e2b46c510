/** Folders of tests that must pass on Citus as on a plain server. */
export const citusSuites = [
  "turns",
  "langgraph/checkpointer",
  "search",
  "notes",
  "consolidation",
  "store",
  "forgetting",
  "transfer",
];

/** They ask for plans of a plain server. */
export const notOnCitus = ["**/plans.test.ts", "**/rows-read.test.ts", "**/*.long.test.ts"];
