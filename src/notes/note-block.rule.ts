import { isoDay } from "../clock.js";
import { type MemoryItem, shownLine } from "../memories/item/memory.js";
import { containedLine } from "../text/contained-text.js";
import { clipped } from "../text/storable-text.js";

export type ShownNote = Pick<MemoryItem, "text" | "createdAt" | "origin" | "trust">;

/** As long as a configured name may be; ids have no bound of their own. */
const mostNameCharacters = 200;

/** Whether an operator gave or approved it; others come from conversations with users. */
export function isOperators({ trust }: Pick<MemoryItem, "trust">): boolean {
  return trust === "operator";
}

/** An operator's notes first; null without any. Each is one line, so that none can imitate a part of the prompt. */
export function noteBlock(notes: readonly ShownNote[], appName: string): string | null {
  if (notes.length === 0) return null;
  const given = notes.filter(isOperators);
  const left = notes.filter((note) => !isOperators(note)).map((note, at) => noteLine(note, given.length + at));
  const part = (heading: string, lines: readonly string[]) => (lines.length === 0 ? [] : [heading, "", ...lines, ""]);
  return [
    `(memories for app: ${clipped(containedLine(appName), mostNameCharacters)})`,
    ...part("The following are notes of this app's operator:", given.map(noteLine)),
    ...part("The following are memories from previous conversations with this app:", left),
    "Use these memories to provide context-aware responses.",
  ].join("\n");
}

/** @param index from 0. */
export function noteLine(note: ShownNote, index: number): string {
  return `${index + 1}. [Created: ${isoDay(note.createdAt)}] ${shownLine(note, note.text)}`;
}
