/**
 * Whether PostgreSQL can hold `text` as it is: no NUL characters, no halves of surrogate pairs.
 *
 * Ids must be: NUL is refused, and every lone half becomes U+FFFD, so that two different ids would meet.
 */
export function isStorable(text: string): boolean {
  return !text.includes("\u0000") && !/\p{Surrogate}/u.test(text);
}

/** `text` without halves of surrogate pairs: U+FFFD stands for each, as it would in UTF-8. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}

/** `text` as PostgreSQL can hold it: without NUL characters and halves of surrogate pairs. */
export function storable(text: string): string {
  return wellFormed(text.replaceAll("\u0000", ""));
}

/** Whether `text` has a letter or a digit: nothing can be told from marks and pictures alone. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** Scripts that join and part letters by invisible characters. */
const joining =
  "[\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Mong}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}" +
  "\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}\\p{scx=Mymr}\\p{scx=Tibt}]";
const pictured = "[\\p{Extended_Pictographic}\\p{Emoji_Presentation}\\p{Emoji_Modifier}]";

/** Invisible characters that change what is seen, where they stand between what needs them. */
const needed = [
  `(?<=(?=[\\p{L}\\p{M}])${joining})[\\u200C\\u200D](?=(?=[\\p{L}\\p{M}])${joining})`,
  `(?<=${pictured}\\uFE0F?)\\u200D(?=\\p{Extended_Pictographic})`,
  `(?<=${pictured})[\\uFE0E\\uFE0F]`,
  "(?<=[0-9#*])\\uFE0F(?=\\u20E3)",
  // Names are written with them: 葛󠄀 is another character than 葛.
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
 * `text` with nothing in it that people do not see: no tag, bidi control, zero-width or control characters but those
 * that a script or an emoji needs where they stand, and no halves of surrogate pairs. Every kind of line break is "\n".
 *
 * Whatever memory keeps, and whatever it puts into prompts, goes through here: what is hidden from people who look
 * at a memory is not hidden from a model.
 */
export function visibleText(text: string): string {
  // Nearly all text is.
  if (/^[\n\t\u0020-\u007E]*$/.test(text)) return text;
  const whole = wellFormed(text).replace(lineBreaks, "\n");
  // Looking for what is needed where it stands takes long, and is seldom asked for.
  return hideable.test(whole) ? whole.replace(hidden, (_, kept: string | undefined) => kept ?? "") : whole;
}

/** White space that is no single blank between words. */
const otherSpace = /[^\S ]|^ | $| {2}/;

/** `text`, visible, as one line without white space around it. */
export function onOneLine(text: string): string {
  const visible = visibleText(text);
  return otherSpace.test(visible) ? visible.replace(/\s+/g, " ").trim() : visible;
}

/** The first `mostCharacters` of `text`, one fewer where the last would be half a character. */
export function headOf(text: string, mostCharacters: number): string {
  return text.length <= mostCharacters ? text : text.slice(0, mostCharacters).replace(/[\uD800-\uDBFF]$/, "");
}

/** The same, without a last word that would be cut, where that leaves half of it. Without white space at the end. */
export function headAtWord(text: string, mostCharacters: number): string {
  if (text.length <= mostCharacters) return text;
  const head = headOf(text, mostCharacters);
  const end = /\s/.test(text[head.length] ?? "") ? head.length : head.search(/\s\S*$/);
  return (end > mostCharacters / 2 ? head.slice(0, end) : head).trimEnd();
}

/** The last `mostCharacters` of `text`, one fewer where the first would be half a character. */
export function tailOf(text: string, mostCharacters: number): string {
  return text.length <= mostCharacters ? text : text.slice(-mostCharacters).replace(/^[\uDC00-\uDFFF]/, "");
}

/** The most characters, from `least` to `longest`, of which `fits` holds; null where it does not even of the least. */
export function mostThatFit(
  least: number,
  longest: number,
  fits: (characters: number) => boolean,
): number | null {
  if (!fits(least)) return null;
  // They are at least `low` and fewer than `high`.
  let [low, high] = [least, Math.max(least, longest) + 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** `text` in at most `mostCharacters`; "…" stands for what is left out. */
export function clipped(text: string, mostCharacters: number): string {
  return text.length <= mostCharacters ? text : `${headOf(text, mostCharacters - 1)}…`;
}
