import { MemoryError } from "../errors.js";
import { maxCharacters, trimToLength, writingProblems } from "../memories/write/writing-constraints.rule.js";
import { clipped, hasWords, headAtWord, onOneLine, visibleText } from "../text/storable-text.js";

export interface NoteContent {
  readonly text: string;
  /** 1 to 5. */
  readonly importance: number;
  readonly tags: readonly string[];
}

export interface SaidNote {
  readonly note: string;
  readonly importance: number;
  readonly tags: readonly string[];
}

/** Enough to sort by; models would give a dozen. */
const mostTags = 5;
const mostTagCharacters = 40;

/** One paragraph, cut after the last whole sentence, or word, that fits; null when nothing is worth noting. */
export function noteContent({ note, importance, tags }: SaidNote): NoteContent | null {
  const text = noteText(note);
  if (text === null) return null;
  return { text, importance: Math.min(5, Math.max(1, importance)), tags: noteTags(tags) };
}

/** Null without words. @throws MemoryError `MODEL_OUTPUT_INVALID` */
export function noteText(said: string): string | null {
  const whole = onOneLine(visibleText(said)).trim();
  if (!hasWords(whole)) return null;
  const text = trimToLength("note", whole) ?? `${headAtWord(whole, maxCharacters.note - 1)}…`;
  const [problem] = writingProblems("note", text);
  if (problem === undefined) return text;
  throw new MemoryError("MODEL_OUTPUT_INVALID", `The model's note cannot be kept: ${problem}.`, {
    cause: { output: whole },
  });
}

function noteTags(said: readonly string[]): string[] {
  const tags = said.map((tag) => clipped(onOneLine(visibleText(tag)).trim().toLowerCase(), mostTagCharacters));
  return [...new Set(tags.filter(hasWords))].slice(0, mostTags);
}
