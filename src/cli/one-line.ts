/**
 * `text` on one line, without control characters: what users said must not move a terminal's cursor, nor change its
 * colours or the order of its letters.
 */
export function oneLine(text: string): string {
  return text
    .replace(/\s+/gu, " ")
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd")
    .trim();
}
