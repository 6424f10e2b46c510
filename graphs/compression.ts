import { studioMemory } from "./studio-memory.js";

/** The graph that makes episodes. In background work it runs on its own; here it compresses a thread's older turns. */
export const graph = studioMemory.compressionGraph();
