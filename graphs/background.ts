import { studioMemory } from "./studio-memory.js";

// The graphs of background work. There they run on their own; here each does its work for one
// thread, or one user, at once.

const graphs = studioMemory.graphs();

/** Summarises the thread. */
export const summarization = graphs.summarization;

/** Reads what the thread's user said since, for facts. */
export const extraction = graphs.extraction;

/** Compares what is known of a user or an app, and merges what says the same: give it a scope. */
export const consolidation = graphs.consolidation;

/** Compresses the thread's older turns into an episode. */
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
