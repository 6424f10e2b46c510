/**
 * Reads `text` from `start` until one more character would exceed `mostTokens`: the tokens, not rounded, and
 * where it stopped. Linear, whatever the text.
 *
 * The rule is that of LangChain's `countTokensApproximately`, four characters a token. That one is in
 * `langchain`, an optional peer, counts whole messages only, and gives a quarter of what Chinese takes. So
 * CJK characters and emoji are a token each, those of other scripts than Latin half a token.
 */
export function readTokens(text: string, start = 0, mostTokens = Number.POSITIVE_INFINITY) {
  let tokens = 0;
  for (let end = start; end < text.length; end++) {
    const code = text.charCodeAt(end);
    const more = code < 0x250 ? 1 / bytesPerToken : code < 0x2e80 ? 0.5 : 1;
    if (tokens + more > mostTokens) return { tokens, end };
    tokens += more;
  }
  return { tokens, end: text.length };
}

/** Tokens of `text`, roughly, and at most its characters: the count for every model. */
export function estimateTokens(text: string): number {
  return Math.ceil(readTokens(text).tokens);
}

/** Prose, code, and scripts of three bytes a character come within a third of it. */
export const bytesPerToken = 4;
