const quote = 0x22;
const backslash = 0x5c;

/** Whether `text`, JSON, is nested deeper than `most` levels. Reads it once, and never calls itself. */
export function isDeeper(text: string, most: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) {
      at = endOfString(text, at);
    } else if (character === 0x5b || character === 0x7b) {
      if (++depth > most) return true;
    } else if (character === 0x5d || character === 0x7d) {
      depth--;
    }
  }
  return false;
}

/** Where the string that begins at `start` ends: at its quote, or with the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) return at;
    if (character === backslash) at++;
  }
  return text.length;
}
