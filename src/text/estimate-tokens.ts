export function readTokens(text: string, start = 0, maxTokens = Number.POSITIVE_INFINITY) {
  let tokens = 0;
  for (let end = start; end < text.length; end++) {
    const more = tokensOf(text.charCodeAt(end));
    if (tokens + more > maxTokens) return { tokens, end };
    tokens += more;
  }
  return { tokens, end: text.length };
}

// LangChain's `countTokensApproximately` assumes four characters a token, a quarter of what Chinese
// needs, and an eighth of what Lao, Tibetan and Amharic need.
function tokensOf(code: number): number {
  if (code < 0x250) return 1 / bytesPerToken;
  if ((code >= 0xe80 && code < 0x1000) || (code >= 0x1200 && code < 0x1400)) return 2;
  return code < 0x2e80 ? 0.5 : 1;
}

export const estimateTokens = (text: string): number => Math.ceil(readTokens(text).tokens);

/** Within a third for prose, code, and scripts of three bytes a character. */
export const bytesPerToken = 4;
