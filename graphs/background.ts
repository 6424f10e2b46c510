import { studioMemory } from "./studio-memory.js";

// The graphs of background work. In a program they run on their own; here each does what is due for
// one thread, user or app, and says in `reason` why nothing is.

const graphs = studioMemory.graphs();

/** Makes the next summary of the thread, if enough is new. */
export const summarization = graphs.summarization;

/** Reads what the thread's user said since, for facts. */
export const extraction = graphs.extraction;

/** Compares what is known of a user or an app, and merges what says the same: give it a scope. */
export const consolidation = graphs.consolidation;

/** Compresses the thread's older turns into an episode, once there are twenty. */
export const compression = graphs.compression;

/**
 * The memory sub-agent: notes what the app should know of the thread's conversation, once that has
 * ended.
 */
export const note = graphs.note;

/** Makes the app's notes one fewer, where there are too many. */
export const compaction = graphs.compaction;

/** Concludes what the user did not say in so many words. */
export const insights = graphs.insights;
