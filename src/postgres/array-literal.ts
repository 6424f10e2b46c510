const [quote, backslash] = [0x22, 0x5c];

const longCharacters = 10_000;

/**
 * Writes arrays with a long text as a literal: pg's own escaping takes 0.3 s for a megabyte of
 * quotes.
 */
export function asParameter(value: unknown): unknown {
  if (!Array.isArray(value) || !value.some(isLong) || !value.every(isTextOrNull)) return value;
  return `{${value.map((text) => (text === null ? "NULL" : quoted(text))).join(",")}}`;
}

const isLong = (item: unknown) => typeof item === "string" && item.length > longCharacters;
const isTextOrNull = (item: unknown): item is string | null =>
  typeof item === "string" || item === null;

function quoted(text: string): string {
  if (!text.includes('"') && !text.includes("\\")) return `"${text}"`;
  const bytes = Buffer.from(text);
  const escaped = Buffer.allocUnsafe(2 * bytes.length + 2);
  let end = 0;
  escaped[end++] = quote;
  // By index: an iterator takes five times as long.
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    if (byte === quote || byte === backslash) escaped[end++] = backslash;
    escaped[end++] = byte;
  }
  escaped[end++] = quote;
  return escaped.toString("utf8", 0, end);
}
