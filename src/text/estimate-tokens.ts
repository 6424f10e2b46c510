/** Where reading a text stopped. */
export interface TokenCount {
  /** Not rounded. */
  readonly tokens: number;
  /** Characters that were read. */
  readonly end: number;
}

/**
 * Reads `text` from `start` until more than `mostTokens` are counted; the character that exceeds them is not read any
 * more. Linear, whatever the text.
 *
 * The rule is that of LangChain's `countTokensApproximately`, four characters a token. That one is in `langchain`, an
 * optional peer, counts whole messages only, and is a quarter of what Chinese takes. So characters of CJK and emoji are
 * a token each, and those of other scripts than Latin half of one.
 */
export function readTokens(text: string, start = 0, mostTokens = Number.POSITIVE_INFINITY): TokenCount {
  let tokens = 0;
  for (let end = start; end < text.length; end++) {
    const code = text.charCodeAt(end);
    const more = code < 0x250 ? 1 / bytesPerToken : code < 0x2e80 ? 0.5 : 1;
    if (tokens + more > mostTokens) return { tokens, end };
    tokens += more;
  }
  return { tokens, end: text.length };
}

/** Tokens of `text`, roughly, and never more than its characters. It stands for every model's count. */
export function estimateTokens(text: string): number {
  return Math.ceil(readTokens(text).tokens);
}

/** Bytes of a token where a text is measured and not read: prose, code, and scripts of three bytes a character come within a third. */
export const bytesPerToken = 4;
