import { modelText } from "../memories/write/writing-constraints.rule.js";
import { clipped, hasWords, onOneLine, visibleText } from "../text/storable-text.js";

export interface NoteContent {
  readonly text: string;
  /** 1 to 5. */
  readonly importance: number;
  readonly tags: readonly string[];
}

/** A model's proposal, unchecked. */
export interface ProposedNote extends Omit<NoteContent, "text"> {
  readonly note: string;
}

const maxNoteTags = 5;
const maxTagCharacters = 40;

/** Null without words. @throws MemoryError `MODEL_OUTPUT_INVALID` */
export function noteContent({ note, importance, tags }: ProposedNote): NoteContent | null {
  const text = noteText(note);
  if (text === null) return null;
  return { text, importance: Math.min(5, Math.max(1, importance)), tags: noteTags(tags) };
}

/** Null without words. @throws MemoryError `MODEL_OUTPUT_INVALID` */
export function noteText(answer: string): string | null {
  const output = onOneLine(visibleText(answer)).trim();
  return hasWords(output) ? modelText("note", output) : null;
}

function noteTags(proposed: readonly string[]): string[] {
  const tags = proposed.map((tag) =>
    clipped(onOneLine(visibleText(tag)).trim().toLowerCase(), maxTagCharacters),
  );
  return [...new Set(tags.filter(hasWords))].slice(0, maxNoteTags);
}
