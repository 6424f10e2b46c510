/** Reads `text` from `start` until `mostTokens`: the tokens, not rounded, and where it stopped. Linear. */
export function readTokens(text: string, start = 0, mostTokens = Number.POSITIVE_INFINITY) {
  let tokens = 0;
  for (let end = start; end < text.length; end++) {
    const code = text.charCodeAt(end);
    // LangChain's `countTokensApproximately` has four characters a token, a quarter of what Chinese takes.
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
