/** Characters that people and models write for each other. */
const variants: readonly (readonly [one: RegExp, any: string])[] = [
  [/['’‘ʼ`]/g, "['’‘ʼ`]"],
  [/["“”„«»]/g, '["“”„«»]'],
  [/[-‐‑‒–—]/g, "[-‐‑‒–—]"],
];

/** Scripts that part words by spaces: there a quote may not begin or end within a word. */
const spaced = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]/u;

/**
 * The stretch of `text` that `quote` quotes, as it stands there; null when it is not there.
 *
 * Case, white space and the kinds of quotation marks and dashes may differ, words may not.
 */
export function findQuote(text: string, quote: string): string | null {
  const wanted = quote.normalize("NFC").trim();
  if (!/[\p{L}\p{N}]/u.test(wanted)) return null;
  const pattern = wanted
    .split(/\s+/)
    .map((word) =>
      variants.reduce(
        (escaped, [one, any]) => escaped.replace(one, any),
        word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"),
      ),
    )
    .join("\\s+");
  const before = spaced.test(wanted.at(0) ?? "") ? "(?<![\\p{L}\\p{N}])" : "";
  const after = spaced.test(wanted.at(-1) ?? "") ? "(?![\\p{L}\\p{N}])" : "";
  return new RegExp(`${before}${pattern}${after}`, "iu").exec(text.normalize("NFC"))?.[0] ?? null;
}
