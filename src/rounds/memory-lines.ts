import type { ShownPart } from "../conversation/shown-turns.js";
import { type MemoryItem, shownLine, unverified } from "../memories/item/memory.js";
import { isOperators, noteLine } from "../notes/note-block.rule.js";
import { readTokens } from "../text/estimate-tokens.js";
import { headAtWord, onOneLine } from "../text/storable-text.js";

export interface MemoryLine {
  readonly line: string;
  /** With the end of the line before; not rounded. */
  readonly tokens: number;
}

export const sectionHeadings = {
  profile: "## User Profile",
  unverified: "## Unverified",
  context: "## Recent Context",
  rest: "## Also Known",
} as const;

export type MemorySection = keyof typeof sectionHeadings | "notes" | "operators";

/** What nobody vouches for is in no profile. */
export function sectionOf(part: ShownPart, memory: MemoryItem): MemorySection {
  if (part === "profile") return unverified(memory) === null ? part : "unverified";
  if (part === "notes") return isOperators(memory) ? "operators" : part;
  return part === "rest" ? part : "context";
}

/** @param place in the part: notes are numbered */
export function lineOf(part: ShownPart, memory: MemoryItem, place: number): MemoryLine {
  const line = part === "notes" ? noteLine(memory, place) : `- ${shownLine(memory, wordsOf(memory, part))}`;
  // A line's end is no part of the words around it: lines and sections can be counted one by one.
  return { line, tokens: readTokens(`\n${line}`).tokens };
}

function wordsOf({ key, value, text, category, turns }: MemoryItem, part: ShownPart): string {
  if (part === "profile") return key !== null && value !== null ? `${key}: ${value}` : text;
  if (part !== "episodes") return `[${category}] ${text}`;
  return `${turns ? `turns ${turns.start}-${turns.end}: ` : ""}${beginning(text)}`;
}

/** Characters of an episode that are shown; all of it is found by `memory.query`. */
export const episodeCharacters = 150;

function beginning(text: string): string {
  const line = onOneLine(text);
  return line.length <= episodeCharacters ? line : `${headAtWord(line, episodeCharacters)}...`;
}
