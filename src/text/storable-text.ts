/**
 * Whether PostgreSQL can hold `text` unchanged. Two ids with lone surrogates would become the same
 * one.
 */
export const isStorable = (text: string): boolean =>
  !text.includes("\u0000") && !/\p{Surrogate}/u.test(text);

export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, "\uFFFD");

export const storable = (text: string): string => wellFormed(text.replaceAll("\u0000", ""));

/** `storable` of all texts in JSON: its escapes of NUL and of half surrogate pairs. */
export const storableEscapes = (json: string): string =>
  json.replace(
    /(?<!\\)((?:\\\\)*)\\u(0000|d[89a-f][0-9a-f]{2})/g,
    (_, before: string, code: string) => before + (code === "0000" ? "" : "\uFFFD"),
  );

export const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

const joining =
  "[\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Mong}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}" +
  "\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}\\p{scx=Mymr}\\p{scx=Tibt}]";
const pictured = "[\\p{Extended_Pictographic}\\p{Emoji_Presentation}\\p{Emoji_Modifier}]";

const needed = [
  `(?<=(?=[\\p{L}\\p{M}])${joining})[\\u200C\\u200D](?=(?=[\\p{L}\\p{M}])${joining})`,
  `(?<=${pictured}\\uFE0F?)\\u200D(?=\\p{Extended_Pictographic})`,
  `(?<=${pictured})[\\uFE0E\\uFE0F]`,
  "(?<=[0-9#*])\\uFE0F(?=\\u20E3)",
  // Ideographic variants in names: 葛󠄀 differs from 葛.
  "(?<=\\p{scx=Hani})[\\uFE00-\\uFE02\\u{E0100}-\\u{E01EF}]",
  "(?<=\\p{scx=Mong})[\\u180B-\\u180D\\u180F]",
].join("|");

const lineBreaks = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
const hideable = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\uFFF9-\uFFFB]|[^\P{Cc}\n\t]/u;
const hidden = new RegExp(
  `(${needed})|(?![\\n\\t])[\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\p{Cc}\\uFFF9-\\uFFFB]`,
  "gu",
);

/**
 * Removes invisible characters. All stored and prompted text passes here: people see what models
 * see.
 */
export function visibleText(text: string): string {
  if (/^[\n\t\u0020-\u007E]*$/.test(text)) return text;
  const whole = wellFormed(text).replace(lineBreaks, "\n");
  return hideable.test(whole) ? whole.replace(hidden, "$1") : whole;
}

const otherSpace = /[^\S ]|^ | $| {2}/;

export function onOneLine(text: string): string {
  const visible = visibleText(text);
  return otherSpace.test(visible) ? visible.replace(/\s+/g, " ").trim() : visible;
}

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
const windowCharacters = 400;

/**
 * The last end of a character up to `end`, with its accents and joined emoji. Segments a window
 * only, since one can have a million marks: splits longer ones. @param start of a character
 */
export function characterEnd(text: string, end: number, start = 0): number {
  const first = Math.max(start, end - windowCharacters);
  const near = graphemes.segment(text.slice(first, end + windowCharacters));
  const index = near.containing(end - first)?.index;
  return index ? first + index : codePointEnd(text, end);
}

/** `end`, or one less within a surrogate pair. */
export const codePointEnd = (text: string, end: number): number =>
  /[\uD800-\uDBFF]/.test(text[end - 1] ?? "") && /[\uDC00-\uDFFF]/.test(text[end] ?? "")
    ? end - 1
    : end;

/** At most `maxCharacters` UTF-16 units. */
export const headOf = (text: string, maxCharacters: number): string =>
  text.length <= maxCharacters ? text : text.slice(0, characterEnd(text, maxCharacters));

/** `headOf` without a partial last word (if half remains) and without trailing white space. */
export function headAtWord(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const head = headOf(text, maxCharacters);
  const end = /\s/.test(text[head.length] ?? "") ? head.length : head.search(/\s\S*$/);
  return (end > maxCharacters / 2 ? head.slice(0, end) : head).trimEnd();
}

export const tailOf = (text: string, maxCharacters: number): string =>
  text.length <= maxCharacters ? text : text.slice(-maxCharacters).replace(/^[\uDC00-\uDFFF]/, "");

/** The largest number from `least` to `longest` that `fits`; null if `least` does not. */
export function largestThatFits(
  least: number,
  longest: number,
  fits: (characters: number) => boolean,
): number | null {
  if (!fits(least)) return null;
  let [low, high] = [least, Math.max(least, longest) + 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

export const clipped = (text: string, maxCharacters: number): string =>
  text.length <= maxCharacters ? text : `${headOf(text, maxCharacters - 1)}…`;
