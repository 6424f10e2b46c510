import { dayMs } from "../clock.js";
import type { BlockPart } from "../conversation/shown-turns.js";
import { type MemoryItem, shownLine, unverified } from "../memories/item/memory.js";
import { isOperators, noteLine } from "../notes/note-block.rule.js";
import { readTokens } from "../text/estimate-tokens.js";
import { newFigure } from "../text/figures.js";
import { clipped, headAtWord, onOneLine } from "../text/storable-text.js";
import { dayIn } from "../text/time-zone.js";

export interface MemoryLine {
  readonly line: string;
  /** Unrounded, with the line break before. */
  readonly tokens: number;
}

export const sectionHeadings = {
  profile: "## User Profile",
  unverified: "## Unverified",
  fits: "## Relevant to This Message",
  context: "## Recent Context",
  rest: "## Also Known",
} as const;

export type MemorySection = keyof typeof sectionHeadings | "notes" | "operators";

/** Unverified memories are not in the profile. */
export function sectionOf(part: BlockPart, memory: MemoryItem): MemorySection {
  if (part === "profile") return unverified(memory) === null ? part : "unverified";
  if (part === "notes") return isOperators(memory) ? "operators" : part;
  if (part === "rest") return part;
  return part === "episodes" ? "context" : "fits";
}

export function lineOf(
  part: BlockPart,
  memory: MemoryItem,
  place: number,
  timeZone: string,
  isDated = false,
): MemoryLine {
  const line =
    part === "notes"
      ? noteLine(memory, place, timeZone)
      : `- ${shownLine(memory, textOf(memory, part, timeZone, isDated))}`;
  // Words do not continue over a line break, so lines and sections add up.
  return { line, tokens: readTokens(`\n${line}`).tokens };
}

function textOf(memory: MemoryItem, part: BlockPart, timeZone: string, isDated: boolean): string {
  const { text, category, turns } = memory;
  if (part === "episodes")
    return `${turns ? `turns ${turns.start}-${turns.end}: ` : ""}${beginning(text)}`;
  return `${part === "profile" ? profileText(memory) : `[${category}] ${text}`}${history(memory, timeZone, isDated)}`;
}

/** Characters around a key and value in a sentence: "The user's favourite … is …". */
const frameCharacters = 30;

/** Key and value, unless the sentence says more. */
function profileText({ key, value, text }: MemoryItem): string {
  if (key === null || value === null) return text;
  const saysMore =
    text.length > key.length + value.length + frameCharacters ||
    newFigure(text, [key, value]) !== undefined;
  return saysMore ? text : `${key}: ${value}`;
}

const dayFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

/**
 * Start of validity, unless that is within a day of its creation and `isDated` is not set, and the
 * earlier value.
 */
function history(
  { validFrom, createdAt, earlier }: MemoryItem,
  timeZone: string,
  isDated: boolean,
): string {
  const isOlder = createdAt.getTime() - validFrom.getTime() > dayMs;
  if (!isOlder && !isDated && earlier === undefined) return "";
  const since = dayFormat.format(new Date(dayIn(validFrom, timeZone)));
  return ` (since ${since}${earlier === undefined ? "" : `, earlier: ${clipped(earlier, earlierCharacters)}`})`;
}

const earlierCharacters = 80;

/** Characters of an episode that are shown; `memory.query` returns all of it. */
export const episodeCharacters = 150;

function beginning(text: string): string {
  const line = onOneLine(text);
  return line.length <= episodeCharacters ? line : `${headAtWord(line, episodeCharacters)}...`;
}
