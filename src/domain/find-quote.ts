import { normalForm } from "./normal-value.js";

/** Characters that people and models write for each other. */
const variants: readonly (readonly [one: RegExp, plain: string])[] = [
  [/['’‘ʼ`]/, "'"],
  [/["“”„«»]/, '"'],
  [/[-‐‑‒–—]/, "-"],
  [/\s/, " "],
];

/** Scripts that part words by spaces: there a quote may not begin or end within a word. */
const spaced = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]/u;
const inWord = /[\p{L}\p{N}]/u;

/**
 * The stretch of `text` that `quote` quotes, as it stands there; null when it is not there. Takes time in proportion to
 * the length of both.
 *
 * Case, white space and the kinds of quotation marks and dashes may differ, words may not.
 */
export function findQuote(text: string, quote: string): string | null {
  const wanted = comparable(normalForm(quote, "NFC").trim());
  if (!wanted.characters.some((character) => inWord.test(character))) return null;
  const said = normalForm(text, "NFC");
  const { characters, places } = comparable(said);
  const first = spaced.test(wanted.characters[0] ?? "");
  const last = spaced.test(wanted.characters.at(-1) ?? "");
  for (const from of occurrences(characters, wanted.characters)) {
    const to = from + wanted.characters.length;
    if (first && inWord.test(characters[from - 1] ?? "")) continue;
    if (last && inWord.test(characters[to] ?? "")) continue;
    return said.slice(places[from], places[to]);
  }
  return null;
}

/** The characters of `text` as they are compared, and where each begins; one more place is the text's end. */
function comparable(text: string): { characters: string[]; places: number[] } {
  const characters: string[] = [];
  const places: number[] = [];
  let at = 0;
  for (const character of text) {
    const plain = plainCharacter(character);
    if (plain !== " " || characters.at(-1) !== " ") {
      characters.push(plain);
      places.push(at);
    }
    at += character.length;
  }
  return { characters, places: [...places, at] };
}

function plainCharacter(character: string): string {
  if (/[a-z0-9]/.test(character)) return character;
  return variants.find(([one]) => one.test(character))?.[1] ?? character.toLowerCase();
}

/** Where `wanted` stands in `characters`, in order (Knuth, Morris and Pratt: each character is looked at twice at most). */
function* occurrences(characters: readonly string[], wanted: readonly string[]): Generator<number> {
  // How much of the beginning of `wanted` also ends there: so much need not be compared again.
  const borders = [0];
  const extend = (matched: number, next: string | undefined): number => {
    let length = matched;
    while (length > 0 && wanted[length] !== next) length = borders[length - 1] ?? 0;
    return wanted[length] === next ? length + 1 : 0;
  };
  for (let index = 1; index < wanted.length; index++) {
    borders.push(extend(borders[index - 1] ?? 0, wanted[index]));
  }
  let matched = 0;
  for (const [index, character] of characters.entries()) {
    matched = extend(matched, character);
    if (matched < wanted.length) continue;
    yield index - wanted.length + 1;
    matched = borders[matched - 1] ?? 0;
  }
}
