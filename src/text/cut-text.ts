import { hasWords } from "./storable-text.js";

const segmenter = new Intl.Segmenter("und", { granularity: "sentence" });

/** What ends with a full stop and no sentence: titles, abbreviations, initials, days ("am 3. Mai"). */
const abbreviation =
  /(?:^|[\s("„“«/])(?:[A-ZÀ-ÞА-ЯΑ-Ω]|\d{1,3}|dr|mrs?|ms|prof|st|jr|sr|sra|srta|dra|mme|mlle|vs|etc|no|nr|nos?|ca|approx|inc|ltd|corp|co|bzw|usw|evtl|ggf|inkl|dept|tel|min|max|vol|pp?|fig|ed|ave|blvd|rd|str|hr|frl|geb|mt|ft|gen|capt|sgt|lt|col|hon|gov|rep|univ|bros|ste|apt|ul|św|np|tzn|itd|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[a-zà-þ]{1,2}(?:\.\s?[a-zà-þ]{1,3})+|т|г|ул|др|им)\.\s*$/i;

/** What ends a sentence, with the quotation marks and brackets that may follow. */
const ending = /[.!?…。．！？｡।॥؟۔]["'”’»)\]」』]*\s*$/u;

/** So far around a place words are looked at, to tell where they end: the longest in a dictionary are shorter. */
const wordCharacters = 40;

const endMark = /[.!?…。．！？｡।॥؟۔]/u;
const moreThanClosing = /[^"'”’»)\]」』\s]/u;

/**
 * The sentences of `text`, which together are the text. Where it is not sure that one ends (after an abbreviation, within
 * quotation marks or brackets, at a line's end) it goes on.
 */
export function sentencesOf(text: string): string[] {
  const end = text.search(endMark);
  // Most memories are one sentence: taking them apart takes longer than all else that is asked of them.
  if (end < 0 || !moreThanClosing.test(text.slice(end + 1))) return [text];
  const sentences: string[] = [];
  let begun = "";
  const segments = Array.from(segmenter.segment(text), ({ segment }) => segment);
  for (const [index, segment] of segments.entries()) {
    begun += segment;
    const goesOn = /^\p{Ll}/u.test(segments[index + 1] ?? "");
    if (goesOn || !ending.test(segment) || abbreviation.test(begun) || isOpen(begun)) continue;
    sentences.push(begun);
    begun = "";
  }
  if (hasWords(begun) || sentences.length === 0) return [...sentences, begun];
  return [...sentences.slice(0, -1), `${sentences.at(-1)}${begun}`];
}

/**
 * The whole sentences that `text` begins with, so many as `mostCharacters` have room for; undefined where not even one fits.
 * A text with an odd number of quotation marks is cut after the last mark that ends a sentence.
 */
export function wholeSentences(text: string, mostCharacters: number): string | undefined {
  // What follows the last sentence that fits tells whether it ends there.
  const [first = "", ...others] = sentencesOf(text.slice(0, mostCharacters + wordCharacters));
  let whole = first;
  for (const sentence of others) {
    if ((whole + sentence).trimEnd().length > mostCharacters) break;
    whole += sentence;
  }
  if (whole.trimEnd().length <= mostCharacters) return whole.trimEnd();
  const head = text.slice(0, mostCharacters);
  const ends = Array.from(head.matchAll(/[.!?。！？](?=\s|$)/gu), ({ index }) => head.slice(0, index + 1));
  return ends.findLast((end) => !abbreviation.test(end));
}

const pairs = ["“”", "«»", "()", "[]", "「」", "『』"] as const;

function isOpen(text: string): boolean {
  const count = (mark: string) => text.split(mark).length - 1;
  return count('"') % 2 === 1 || pairs.some(([open = "", close = ""]) => count(open) > count(close));
}

/** Scripts that write words without spaces between them. */
const spaceless =
  /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}\u3000-\u303F\uFF00-\uFF65]/u;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
const words = new Intl.Segmenter("und", { granularity: "word" });

/**
 * Where a part of `text` ends that begins at `start` and may reach to `end`: after a line that ends in its last quarter,
 * or else before the word that would be cut. A word that is longer than any part is cut after a mark in the last
 * quarter (JSON, addresses) or anywhere between two characters as people see them; after `start` in any case.
 *
 * @param isWhole whether what lies between two places fits a part of its own.
 */
export function endOfPart(
  text: string,
  start: number,
  end: number,
  isWhole: (from: number, to: number) => boolean,
): number {
  if (end >= text.length) return text.length;
  const lastQuarter = end - Math.floor((end - start) / 4);
  const line = text.lastIndexOf("\n", end - 1) + 1;
  if (line > start && line >= lastQuarter) return line;
  const word = wordStart(text, start, end);
  if (word > start && (word === end || isWhole(word, wordEnd(text, end)))) return word;
  for (let at = end; at > start && at >= lastQuarter; at--) {
    if (/[,;)\]}>&|/]/.test(text[at - 1] ?? "") && isBetween(text, start, at)) return at;
  }
  return characterEnd(text, start, end);
}

/** Where the first word, or else the first character, begins that lies in `text` from `from` on, `before` being known to be one. */
export function startOfPart(text: string, before: number, from: number): number {
  const word = wordEnd(text, from, Math.floor((text.length - from) / 4));
  if (isGap(text, word)) return /\s/.test(text[word] ?? "") ? word + 1 : word;
  let at = from;
  while (at < text.length && !isBetween(text, before, at)) at++;
  return at;
}

/** The last place up to `end` where no word is cut; `start` when there is none. */
function wordStart(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && !isGap(text, at)) at--;
  if (at === start || !isSpaceless(text, at - 1) || !isSpaceless(text, at)) return at;
  const from = Math.max(start, at - wordCharacters);
  const near = boundariesIn(words, text, from, at + wordCharacters).findLast(
    (each) => each <= at && each > from,
  );
  return near !== undefined && isGap(text, near) ? near : at;
}

/** The first place from `from` on where no word is cut, `mostCharacters` away at most. */
function wordEnd(text: string, from: number, mostCharacters = text.length): number {
  const most = Math.min(text.length, from + mostCharacters);
  let at = from;
  while (at < most && !isGap(text, at)) at++;
  return at;
}

/** Whether a word may end at `at`: beside white space, or a character of a script without spaces. */
function isGap(text: string, at: number): boolean {
  if (at >= text.length || /\s/.test(text[at - 1] ?? " ") || /\s/.test(text[at] ?? " ")) return true;
  return (isSpaceless(text, at - 1) || isSpaceless(text, at)) && !isJoined(text, at);
}

function isSpaceless(text: string, at: number): boolean {
  return spaceless.test(text[at] ?? "");
}

/** The last place up to `end`, after `start`, between two characters as people see them; within one only where it is too long. */
function characterEnd(text: string, start: number, end: number): number {
  const from = clusterStart(text, start, end);
  const last = boundariesIn(graphemes, text, from, end + wordCharacters).findLast((each) => each <= end);
  if (last !== undefined && last > start) return last;
  const cut = isHalved(text, end) ? end - 1 : end;
  return cut > start ? cut : start + (isHalved(text, start + 1) ? 2 : 1);
}

/** Whether `at` is between two characters as people see them, `start` being so. */
function isBetween(text: string, start: number, at: number): boolean {
  if (!isJoined(text, at)) return true;
  return boundariesIn(graphemes, text, clusterStart(text, start, at), at + wordCharacters).includes(at);
}

/** A place at or before `at`, not before `start`, where surely no character is cut. */
function clusterStart(text: string, start: number, at: number): number {
  let from = Math.max(start, at - wordCharacters);
  while (from > start && isJoined(text, from)) from--;
  return from;
}

/** Marks, flags, syllables of Hangul, and what makes one emoji of several. */
const joining =
  /\p{M}|\p{Emoji_Modifier}|\p{RI}|[\u1100-\u11FF\uA960-\uA97C\uD7B0-\uD7FB]|\u200C|\u200D|[\u{E0020}-\u{E007F}]/u;

/** Whether what stands at `at` may belong to the character before it. */
function isJoined(text: string, at: number): boolean {
  const code = text.codePointAt(at);
  if (code === undefined || isHalved(text, at)) return code !== undefined;
  const before = text[at - 1] ?? "";
  if (code < 0x80) return before === "\r" || /[\u0600-\u0605\u200D]/.test(before);
  return before === "\u200D" || joining.test(String.fromCodePoint(code));
}

function boundariesIn(segmenter: Intl.Segmenter, text: string, from: number, to: number): number[] {
  const starts = Array.from(segmenter.segment(text.slice(from, to)), ({ index }) => from + index);
  return [...starts, Math.min(to, text.length)];
}

function isHalved(text: string, index: number): boolean {
  return /[\uD800-\uDBFF]/.test(text[index - 1] ?? "") && /[\uDC00-\uDFFF]/.test(text[index] ?? "");
}
