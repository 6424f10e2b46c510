/**
 * Rough token count: a quarter of the ASCII characters, and one for each other character.
 *
 * Errs on the high side for English (about 4.2 characters a token in OpenAI's published rule of thumb)
 * and for scripts that tokenizers split finely, which is the safe side for a budget.
 */
export function estimateTokens(text: string): number {
  let ascii = 0;
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) < 128) ascii++;
  return Math.ceil(ascii / 4) + (text.length - ascii);
}

/** `text` cut into consecutive parts of at most `budgetTokens` each; together they are the whole text. */
function splitText(text: string, budgetTokens: number): string[] {
  // One character is at most one token by the estimate, so parts of this length always fit.
  const length = estimateTokens(text) <= budgetTokens ? text.length : Math.max(1, budgetTokens);
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + length);
    const splitsSurrogatePair = /[\uD800-\uDBFF]/.test(text[end - 1] ?? "") && end < text.length;
    if (splitsSurrogatePair) end = end - 1 > start ? end - 1 : end + 1;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts.length === 0 ? [""] : parts;
}

/**
 * `items` in consecutive groups of at most `budgetTokens` of text each, nothing lost.
 *
 * An item that alone is larger is cut into several of the same kind.
 */
export function textPieces<Item extends { text: string }>(
  items: readonly Item[],
  budgetTokens: number,
): Item[][] {
  const pieces: Item[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (const item of items) {
    for (const text of splitText(item.text, budgetTokens)) {
      const tokens = estimateTokens(text);
      if (used + tokens > budgetTokens) {
        pieces.push([]);
        used = 0;
      }
      pieces.at(-1)?.push({ ...item, text });
      used += tokens;
    }
  }
  return pieces;
}
