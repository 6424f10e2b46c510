/** The first `mostCharacters` of `text`, one fewer where the last would be half a character. */
export function headOf(text: string, mostCharacters: number): string {
  return text.length <= mostCharacters ? text : text.slice(0, mostCharacters).replace(/[\uD800-\uDBFF]$/, "");
}

/** The last `mostCharacters` of `text`, one fewer where the first would be half a character. */
export function tailOf(text: string, mostCharacters: number): string {
  return text.length <= mostCharacters ? text : text.slice(-mostCharacters).replace(/^[\uDC00-\uDFFF]/, "");
}

/** `text` in at most `mostCharacters`; "…" stands for what is left out. */
export function clipped(text: string, mostCharacters: number): string {
  return text.length <= mostCharacters ? text : `${headOf(text, mostCharacters - 1)}…`;
}
