import type { ShownPart } from "../conversation/shown-turns.js";
import { type MemoryItem, shownLine, unverified } from "../memories/item/memory.js";
import { noteLine } from "../notes/note-block.rule.js";
import { readTokens } from "../text/estimate-tokens.js";
import { headAtWord, onOneLine } from "../text/storable-text.js";

/** What a memory adds to the block: its line, and what that adds to its tokens. */
export interface MemoryLine {
  readonly line: string;
  /** With the end of the line before; not rounded. */
  readonly tokens: number;
}

/** What sections of memories begin with; that of an app's notes is longer. */
export const sectionHeadings = {
  profile: "## User Profile",
  unverified: "## Unverified",
  context: "## Recent Context",
  rest: "## Also Known",
} as const;

/** The parts of the block that memories stand in. */
export type MemorySection = keyof typeof sectionHeadings | "notes";

/** The section in which `part` shows `memory`: what nobody vouches for stands in no profile. */
export function sectionOf(part: ShownPart, memory: MemoryItem): MemorySection {
  if (part === "profile") return unverified(memory) === null ? part : "unverified";
  return part === "rest" || part === "notes" ? part : "context";
}

/** The line with which `part` shows `memory`. @param place in the part: notes are numbered */
export function lineOf(part: ShownPart, memory: MemoryItem, place: number): MemoryLine {
  if (part === "profile") return writtenLine(memory, "slot");
  if (part !== "notes") return writtenLine(memory, part === "episodes" ? "episode" : "labelled");
  const line = noteLine(memory, place);
  return { line, tokens: tokensOf(line) };
}

/** How a memory is written, but for notes. */
type Form = "slot" | "labelled" | "episode";

interface Written extends MemoryLine {
  readonly form: Form;
  /** What the line was made of. */
  readonly made: Pick<MemoryItem, "key" | "value" | "text" | "category" | "turns" | "origin" | "trust">;
}

/**
 * Lines as they were last written: a block is measured several times before it is known to fit, and a memory that is held
 * is shown in one recall after the other.
 */
const writtenLines = new WeakMap<MemoryItem, Written>();

function writtenLine(memory: MemoryItem, form: Form): MemoryLine {
  const known = writtenLines.get(memory);
  if (known !== undefined && known.form === form && isMadeOf(known.made, memory)) return known;
  const { key, value, text, category, turns, origin, trust } = memory;
  const line = `- ${shownLine(memory, wordsOf(memory, form))}`;
  const made = { key, value, text, category, turns, origin, trust };
  const written: Written = { form, line, tokens: tokensOf(line), made };
  writtenLines.set(memory, written);
  return written;
}

/** Whoever was given a memory may have changed it since. */
function isMadeOf(made: Written["made"], memory: MemoryItem): boolean {
  return (
    made.text === memory.text &&
    made.key === memory.key &&
    made.value === memory.value &&
    made.category === memory.category &&
    made.turns === memory.turns &&
    made.origin === memory.origin &&
    made.trust === memory.trust
  );
}

function wordsOf({ key, value, text, category, turns }: MemoryItem, form: Form): string {
  if (form === "labelled") return `[${category}] ${text}`;
  if (form === "slot") return key !== null && value !== null ? `${key}: ${value}` : text;
  return `${turns ? `turns ${turns.start}-${turns.end}: ` : ""}${beginning(text)}`;
}

/** Characters of an episode that are shown; all of it is found by `memory.query`. */
const episodeCharacters = 150;

/** `text` cut after the last whole word of what is shown of an episode. */
function beginning(text: string): string {
  const line = onOneLine(text);
  return line.length <= episodeCharacters ? line : `${headAtWord(line, episodeCharacters)}...`;
}

/** A line's end is no part of the words around it: lines and sections can be counted one by one. */
function tokensOf(line: string): number {
  return readTokens(`\n${line}`).tokens;
}
