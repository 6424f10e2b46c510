import { MemoryError } from "../errors.js";
import { headOf } from "./clip-text.js";
import { visibleText } from "./storable-text.js";
import { maxCharacters, trimToLength, writingProblems } from "./writing-constraints.js";

/**
 * A model's episode as it may be stored: cut after the last whole sentence, or word, that fits.
 *
 * @throws MemoryError `MODEL_OUTPUT_INVALID` when nothing is left.
 */
export function episodeText(text: string): string {
  const whole = visibleText(text).trim();
  const trimmed = trimToLength("episode", whole) ?? cutAtWord(whole, maxCharacters.episode);
  const [problem] = writingProblems("episode", trimmed);
  if (problem === undefined) return trimmed;
  throw new MemoryError("MODEL_OUTPUT_INVALID", `The model's episode cannot be kept: ${problem}.`, {
    cause: { output: whole },
  });
}

function cutAtWord(text: string, most: number): string {
  const head = headOf(text, most - 1);
  const end = head.search(/\s\S*$/);
  return `${end > most / 2 ? head.slice(0, end) : head}…`;
}
