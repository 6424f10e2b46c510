import { studioMemory } from "./studio-memory.js";

// The graphs of background work. There they run on their own; here each does its work for one thread at once.

/** Summarises the thread. */
export const summarization = studioMemory.summarizationGraph();

/** Reads what the thread's user said since, for facts. */
export const extraction = studioMemory.extractionGraph();

/** Compresses the thread's older turns into an episode. */
export const compression = studioMemory.compressionGraph();
