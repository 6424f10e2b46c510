import { normalForm, plainMarks } from "./normal-value.js";
import { quotedIn } from "./quoted-text.js";
import { hasWords } from "./storable-text.js";

const space = codePointOf(" ");

const maxQuoteCharacters = 2_000;

/** Scripts with spaces between words: a quote must not begin or end within a word. */
const spaced = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]/u;

/**
 * The part of `text` that matches `quote`, or null; ignores case, accents, spaces, quotation marks,
 * dashes.
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
    code !== undefined && hasWords(String.fromCodePoint(code));
  const first = spaced.test(words.at(0) ?? "");
  const last = spaced.test(words.at(-1) ?? "");
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

function comparable(text: string): { codes: Uint32Array; places: Uint32Array } {
  const codes = new Uint32Array(text.length);
  const places = new Uint32Array(text.length + 1);
  let count = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) as number;
    const plain = plainCode(code);
    if (plain === noCharacter) {
      at++;
      continue;
    }
    if (plain !== space || count === 0 || codes[count - 1] !== space) {
      codes[count] = plain;
      places[count++] = at;
    }
    at += code > 0xffff ? 2 : 1;
  }
  places[count] = text.length;
  return { codes: codes.subarray(0, count), places: places.subarray(0, count + 1) };
}

const plainCodes = new Uint32Array(0x3000);

function plainCode(code: number): number {
  if (code >= 0x3001 && code < 0xa640) return code;
  const cached = plainCodes[code];
  if (cached) return cached;
  const plain = foldedCode(code);
  if (code < plainCodes.length) plainCodes[code] = plain;
  return plain;
}

const optional =
  /[\u0300-\u036F\u0591-\u05BD\u05BF-\u05C7\u0610-\u061A\u0640\u064B-\u065F\u0670*]/u;
const noCharacter = 0x110000;

function foldedCode(code: number): number {
  const character = String.fromCodePoint(code);
  if (/\s/.test(character)) return space;
  if (optional.test(character)) return noCharacter;
  return codePointOf(character === "`" ? "'" : plainMarks(bare(character).toLowerCase()));
}

/** Removes accents and widens kana, since models correct what they quote. */
function bare(character: string): string {
  const code = codePointOf(character);
  if (code >= 0xff61 && code <= 0xff9f) return character.normalize("NFKC");
  // Decomposing Hangul syllables gives letters, not accents.
  return code < 0x2000 ? (character.normalize("NFD")[0] ?? character) : character;
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
