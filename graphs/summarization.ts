import { studioMemory } from "./studio-memory.js";

/** The graph that makes summaries. In background work it runs on its own; here it summarises a thread at once. */
export const graph = studioMemory.summarizationGraph();
