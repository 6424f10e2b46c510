import type { Recalled } from "./recall.js";

/**
 * What recall found as text for the prompt, or null when there is nothing to say.
 *
 * The block is delimited, and nothing remembered can close it.
 */
export function memoryBlock(recalled: Recalled): string | null {
  if (!recalled.summary) return null;
  const { startSeq, endSeq } = recalled.summary;
  return [
    "<memory>",
    `[Summary of messages ${startSeq}-${endSeq} of this conversation]:`,
    contain(recalled.summary.text),
    "</memory>",
  ].join("\n");
}

/** `text` with any tag of the block itself made harmless. */
function contain(text: string): string {
  return text.replace(/<(?=\/?\s*memory\b)/gi, "&lt;");
}
