import { digitValue, normalForm, plainMarks } from "./normal-value.js";
import { plainSpelling } from "./plain-words.js";
import { quotedIn } from "./quoted-text.js";
import { hasWords } from "./storable-text.js";

const space = codePointOf(" ");

const maxQuoteCharacters = 2_000;

/** Scripts with spaces between words: a quote must not begin or end within a word of them. */
const spaced = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Nd}]/u;

/**
 * The part of `text` that matches `quote`, or null; ignores case, accents, width, the script of
 * digits, spaces, invisible characters, quotation marks, dashes.
 */
export const findQuote = (text: string, quote: string): string | null =>
  find(text, quote, () => () => false);

/** The same, but only in the writer's own words, not in quoted text. */
export const findSaid = (text: string, quote: string): string | null => find(text, quote, quotedIn);

const maxQuoted = 100;

function find(text: string, quote: string, quoted: typeof quotedIn): string | null {
  if (quote.length > maxQuoteCharacters) return null;
  const words = normalForm(quote, "NFC").trim();
  if (!hasWords(words)) return null;
  const wanted = comparable(words);
  const normalText = normalForm(text, "NFC");
  const { codes, places } = comparable(normalText);
  const isWord = (code: number | undefined) =>
    code !== undefined && spaced.test(String.fromCodePoint(code));
  const first = isWord(wanted.codes[0]);
  const last = isWord(wanted.codes.at(-1));
  const isQuoted = quoted(normalText);
  let passed = 0;
  for (const from of occurrences(codes, wanted.codes)) {
    const to = from + wanted.codes.length;
    if (first && isWord(codes[from - 1])) continue;
    if (last && isWord(codes[to])) continue;
    const [start = 0, end = normalText.length] = [places[from], places[to]];
    if (!isQuoted(start, end)) return normalText.slice(start, end);
    if (++passed === maxQuoted) return null;
  }
  return null;
}

function codePointOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** As in `text`, without what a quote may differ in, and where each code is. */
function comparable(text: string): { codes: Uint32Array; places: Uint32Array } {
  let codes = new Uint32Array(text.length + 1);
  let places = new Uint32Array(text.length + 1);
  let count = 0;
  const add = (code: number, at: number) => {
    const before = count === 0 ? 0 : codes[count - 1];
    // Models set spaces between ideographs and other letters, and join lines of ideographs.
    if (code === space && (before === space || isIdeographic(before))) return;
    if (before === space && isIdeographic(code)) count--;
    if (count + 1 === codes.length) {
      codes = grown(codes);
      places = grown(places);
    }
    codes[count] = code;
    places[count++] = at;
  };
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) as number;
    const single = isIdeographic(code) ? code : singleCodes[code];
    if (single) add(single, at);
    else for (const plain of plainCodes(code)) add(plain, at);
    at += code > 0xffff ? 2 : 1;
  }
  places[count] = text.length;
  return { codes: codes.subarray(0, count), places: places.subarray(0, count + 1) };
}

/** A ligature has several codes. */
function grown(codes: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * codes.length);
  larger.set(codes);
  return larger;
}

const isIdeographic = (code = 0) => code >= 0x3001 && code < 0xa000;

/** Of the planes with scripts in use: rarer characters could fill the caches. */
const maxCached = 0x20000;
/** Of characters that have one plain code: 0 for others. */
const singleCodes = new Uint32Array(maxCached);
const severalCodes = new Map<number, readonly number[]>();

function plainCodes(code: number): readonly number[] {
  const cached = severalCodes.get(code);
  if (cached) return cached;
  const plain = Array.from(plainForm(String.fromCodePoint(code)), codePointOf);
  if (code < maxCached) {
    if (plain.length === 1) singleCodes[code] = plain[0] as number;
    else severalCodes.set(code, plain);
  }
  return plain;
}

const optional =
  /[\u0300-\u036F\u0591-\u05BD\u05BF-\u05C7\u0610-\u061A\u0640\u064B-\u065F\u0670*\p{Default_Ignorable_Code_Point}]/gu;

/** Without accents, since models correct what they quote. */
function plainForm(character: string): string {
  if (/\s/.test(character)) return " ";
  if (/\p{Nd}/u.test(character)) return `${digitValue(codePointOf(character))}`;
  // Decomposing Hangul syllables gives letters, not accents.
  const letters = /\p{Script=Hangul}/u.test(character) ? character : character.normalize("NFKD");
  return plainMarks(plainSpelling(letters.replace(optional, "").toLowerCase())).replace("`", "'");
}

/** Knuth–Morris–Pratt: linear. */
function* occurrences(codes: Uint32Array, wanted: Uint32Array): Generator<number> {
  const borders = [0];
  const extend = (matched: number, next: number | undefined): number => {
    let length = matched;
    while (length > 0 && wanted[length] !== next) length = borders[length - 1] ?? 0;
    return wanted[length] === next ? length + 1 : 0;
  };
  for (let index = 1; index < wanted.length; index++) {
    borders.push(extend(borders[index - 1] ?? 0, wanted[index]));
  }
  let matched = 0;
  for (let index = 0; index < codes.length; index++) {
    matched = extend(matched, codes[index]);
    if (matched < wanted.length) continue;
    yield index - wanted.length + 1;
    matched = borders[matched - 1] ?? 0;
  }
}
