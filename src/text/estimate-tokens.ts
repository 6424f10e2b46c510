export function readTokens(text: string, start = 0, maxTokens = Number.POSITIVE_INFINITY) {
  let tokens = 0;
  for (let end = start; end < text.length; end++) {
    const code = text.charCodeAt(end);
    // LangChain's `countTokensApproximately` assumes four characters a token, a quarter of what
    // Chinese needs.
    const more = code < 0x250 ? 1 / bytesPerToken : code < 0x2e80 ? 0.5 : 1;
    if (tokens + more > maxTokens) return { tokens, end };
    tokens += more;
  }
  return { tokens, end: text.length };
}

export const estimateTokens = (text: string): number => Math.ceil(readTokens(text).tokens);

/** Within a third for prose, code, and scripts of three bytes a character. */
export const bytesPerToken = 4;
