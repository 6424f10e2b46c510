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

function comparable(text: string): { codes: readonly number[]; places: readonly number[] } {
  const codes: number[] = [];
  const places: number[] = [];
  let at = 0;
  for (const character of text) {
    for (const code of plainCodes(character)) {
      const before = codes.at(-1);
      // Models set spaces between ideographs and other letters, and join lines of ideographs.
      if (code === space && (before === space || isIdeographic(before))) continue;
      if (before === space && isIdeographic(code)) {
        codes.pop();
        places.pop();
      }
      codes.push(code);
      places.push(at);
    }
    at += character.length;
  }
  return { codes, places: [...places, at] };
}

const isIdeographic = (code = 0) => code >= 0x3001 && code < 0xa000;

const cache = new Map<string, readonly number[]>();
/** Of the planes with scripts in use: rarer characters could fill it. */
const maxCached = 0x20000;

function plainCodes(character: string): readonly number[] {
  const code = codePointOf(character);
  if (isIdeographic(code)) return [code];
  const cached = cache.get(character);
  if (cached) return cached;
  const plain = Array.from(plainForm(character), codePointOf);
  if (code < maxCached) cache.set(character, plain);
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
function* occurrences(codes: readonly number[], wanted: readonly number[]): Generator<number> {
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
