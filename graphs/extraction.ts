import { studioMemory } from "./studio-memory.js";

/** The graph that extracts facts. In background work it runs on its own; here it reads what a thread's user said since. */
export const graph = studioMemory.extractionGraph();
