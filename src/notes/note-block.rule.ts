import { type MemoryItem, shownLine } from "../memories/item/memory.js";
import { containedLine } from "../screening/contained-text.js";
import { clipped } from "../text/storable-text.js";
import { dayIn } from "../text/time-zone.js";

export type ShownNote = Pick<MemoryItem, "text" | "createdAt" | "origin" | "trust" | "inPlace">;

/** The limit of configured names: ids have no limit. */
const maxNameCharacters = 200;

/** Whether an operator wrote or approved a note. */
export function isOperators({ trust }: Pick<MemoryItem, "trust">): boolean {
  return trust === "operator";
}

/**
 * An operator's notes first; null without notes. One line each, so that none can imitate a part of
 * the prompt.
 */
export function noteBlock(
  notes: readonly ShownNote[],
  appName: string,
  timeZone: string,
): string | null {
  if (notes.length === 0) return null;
  const operators = notes.filter(isOperators);
  const others = notes
    .filter((note) => !isOperators(note))
    .map((note, at) => noteLine(note, operators.length + at, timeZone));
  const part = (heading: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [heading, "", ...lines, ""];
  return [
    `(memories for app: ${clipped(containedLine(appName), maxNameCharacters)})`,
    ...part(
      "The following are notes of this app's operator:",
      operators.map((note, at) => noteLine(note, at, timeZone)),
    ),
    ...part("The following are memories from previous conversations with this app:", others),
    "Use these memories to provide context-aware responses.",
  ].join("\n");
}

/** @param index from 0. */
export function noteLine(note: ShownNote, index: number, timeZone: string): string {
  if (note.inPlace !== undefined) return `${index + 1}. ${note.inPlace}`;
  return `${index + 1}. [Created: ${dayIn(note.createdAt, timeZone)}] ${shownLine(note, note.text)}`;
}
