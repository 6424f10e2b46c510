/** How much a search looks at: the same for what is found in SQL and for what is held in the process. */

/** Each costs some milliseconds: hundreds of edits to stem and to look up. */
export const mostCorrected = 6;

/**
 * Terms asked for: of a longer question the rarest that some text has. Ten sentences have no more; a question of
 * thousands of words would make a match of each message for each of them.
 */
export const mostTerms = 64;

/** Texts of an owner counted to tell which terms are rare: those with more all count as common. */
export const mostCounted = 20;

/** How many memories or messages are looked at for each candidate. */
export const lookedAt = {
  /** Best matches of the question's words, of memories and of messages. */
  matches: 8,
  /** Nearest vectors, and of them those of visible memories: words bring in others. */
  nearest: 4,
  nearestVisible: 2,
} as const;

/** Links of a candidate that are told: some are of memories that are shown anyway. */
export const toldLinks = 3;

/** Memories from which on the least similar one is unrelated to any question. */
export const manyMemories = 20;
