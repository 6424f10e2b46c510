import { MemoryError } from "../errors.js";

/**
 * A model's summary as it may be stored: trimmed, without NUL characters, at most `maxCharacters` long
 * (cut after the last sentence that fits).
 *
 * @throws MemoryError `MODEL_OUTPUT_INVALID` when nothing is left.
 */
export function summaryText(text: string, maxCharacters: number): string {
  const trimmed = text.replaceAll("\u0000", "").trim();
  if (!/[\p{L}\p{N}]/u.test(trimmed)) {
    throw new MemoryError("MODEL_OUTPUT_INVALID", "The model returned an empty summary.");
  }
  if (trimmed.length <= maxCharacters) return trimmed;
  // A cut in the middle of a surrogate pair would leave half a character.
  const head = trimmed.slice(0, maxCharacters).replace(/[\uD800-\uDBFF]$/, "");
  const sentenceEnd = Math.max(...[". ", "! ", "? ", "\n", "。"].map((end) => head.lastIndexOf(end)));
  return (sentenceEnd > maxCharacters / 2 ? head.slice(0, sentenceEnd + 1) : head).trim();
}
