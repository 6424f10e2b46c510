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

/** They ask for plans of a plain server, or play hundreds of turns, each of which takes a second there. */
export const notOnCitus = [
  "**/plans.test.ts",
  "**/rows-read.test.ts",
  "**/believed.test.ts",
  "**/*.long.test.ts",
];
