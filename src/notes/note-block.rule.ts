import { isoDay } from "../clock.js";
import { type MemoryItem, shownLine } from "../memories/item/memory.js";
import { containedLine } from "../text/contained-text.js";
import { clipped } from "../text/storable-text.js";

/** What an agent is shown of a note. */
export type ShownNote = Pick<MemoryItem, "text" | "createdAt" | "origin" | "trust">;

/** Longest name of an app that is written: as long as a configured one may be. Ids have no bound of their own. */
const mostNameCharacters = 200;

/**
 * The notes of an app as a prompt has them, numbered in the order given; null without any.
 *
 * Each note and the name is one line, so that neither can look like another part of the prompt.
 */
export function noteBlock(notes: readonly ShownNote[], appName: string): string | null {
  if (notes.length === 0) return null;
  return [
    `(memories for app: ${clipped(containedLine(appName), mostNameCharacters)})`,
    "The following are memories from previous conversations with this app:",
    "",
    ...notes.map(noteLine),
    "",
    "Use these memories to provide context-aware responses.",
  ].join("\n");
}

/** The line of a note. @param index its place, from 0. */
export function noteLine(note: ShownNote, index: number): string {
  return `${index + 1}. [Created: ${isoDay(note.createdAt)}] ${shownLine(note, note.text)}`;
}
