/** The first `mostCharacters` of `text`, one fewer where the last would be half a character. */
export function headOf(text: string, mostCharacters: number): string {
  return text.length <= mostCharacters ? text : text.slice(0, mostCharacters).replace(/[\uD800-\uDBFF]$/, "");
}

/** The same, without a last word that would be cut, where that leaves half of it. Without white space at the end. */
export function headAtWord(text: string, mostCharacters: number): string {
  if (text.length <= mostCharacters) return text;
  const head = headOf(text, mostCharacters);
  const end = /\s/.test(text[head.length] ?? "") ? head.length : head.search(/\s\S*$/);
  return (end > mostCharacters / 2 ? head.slice(0, end) : head).trimEnd();
}

/** The last `mostCharacters` of `text`, one fewer where the first would be half a character. */
export function tailOf(text: string, mostCharacters: number): string {
  return text.length <= mostCharacters ? text : text.slice(-mostCharacters).replace(/^[\uDC00-\uDFFF]/, "");
}

/** `text` in at most `mostCharacters`; "…" stands for what is left out. */
export function clipped(text: string, mostCharacters: number): string {
  return text.length <= mostCharacters ? text : `${headOf(text, mostCharacters - 1)}…`;
}
