import { leastTrusted, type Provenance, provenanceOf } from "../memories/item/memory.js";
import { splitReferences } from "../messages/attachments.js";
import { findQuote } from "../text/find-quote.js";
import { wordsFrom } from "../text/shared-words.js";
import type { ChosenFact, KnownMemory } from "./choose-facts.rule.js";

export interface FactMaterial {
  /** The user's message, with captions of its files. */
  readonly text: string;
  /** The latest results of tools before it, and texts that others wrote as the user. */
  readonly toolResults: readonly string[];
  readonly known: readonly KnownMemory[];
}

/** A text rests on a source that has half of its words. */
const minShare = 0.5;
/** Characters of a slot's sentence besides its key and value: "The user's favourite … is …". */
const slotFrameCharacters = 30;

/**
 * Whose words a fact has: the user's, unless a file, a tool's result or a less trusted memory has
 * more of them than the user's message. A fooled model cites "thanks" for what it read elsewhere.
 */
export function originOfWords(
  { key, value, text }: Pick<ChosenFact, "key" | "value" | "text">,
  { text: message, toolResults, known }: FactMaterial,
): Provenance {
  const { own, references } = splitReferences(message);
  const isShort = text.length <= `${key}${value}`.length + slotFrameCharacters;
  if (value !== null && isShort && findQuote(own, value) !== null) return provenanceOf("user");
  const said = wordsFrom(text, own);
  const others = [
    { text: references, ...provenanceOf("document") },
    ...toolResults.map((result) => ({ text: result, ...provenanceOf("tool") })),
    ...known.map((memory) => ({ ...memory, text: `${memory.text} ${memory.value ?? ""}` })),
  ].filter((other) => {
    const share = wordsFrom(text, other.text);
    return share >= minShare && share > said;
  });
  return leastTrusted(provenanceOf("user"), ...others);
}
