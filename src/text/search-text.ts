import { normalForm } from "./normal-value.js";
import { headOf } from "./storable-text.js";

/** `to_tsvector` skips words of 2,048 bytes and fails for more than 1 MB of different words. */
const most = {
  characters: 100_000,
  part: 5_000,
  /**
   * Characters of scripts without spaces. Each makes two words, so the limit of words applies
   * sooner.
   */
  unsegmented: 20_000,
  /**
   * Bytes of a text: `to_tsvector` makes at most four times as many of words and their parts
   * ("well-known").
   */
  bytes: 250_000,
  words: 4_000,
  /** Longer words are cut. Digests have up to 128. */
  letters: 128,
  unspaced: 256,
  name: 200,
};

const longUnspaced = new RegExp(`\\S{${most.unspaced + 1},}`, "gu");
const anyWord = /[\p{L}\p{M}\p{N}]+/gu;
const signs = /[^\p{L}\p{M}\p{N}]+/gu;
const longWord = new RegExp(`([\\p{L}\\p{M}\\p{N}]{${most.letters}})[\\p{L}\\p{M}\\p{N}]+`, "gu");

/**
 * Scripts that `to_tsvector` does not split into words; the long vowel mark "ー" belongs to two of
 * them.
 */
const unsegmented =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]+/gu;

/** Words with a second spelling: "Wi-Fi", "LH 1234", "v2.3.1", "@ana_m", "MAX_ROWS". */
const severalForms = new RegExp(
  "(?<![\\p{L}\\p{N}-])(?:" +
    "(\\p{Script=Latin}{1,3})-(\\p{Script=Latin}{2,8})(?![\\p{L}\\p{N}-])|([A-Z]{1,3})[ -](\\d{2,5})(?![\\p{L}\\p{N}])|" +
    "[vV]\\.?(\\d{1,4}(?:\\.\\d{1,4}){1,3})(?![\\p{L}\\p{N}])|(@[\\p{L}_]{2,30}|[A-Z]{2,30}(?:_[A-Z\\d]{1,30})+))",
  "gu",
);

function withOneForm(text: string): string {
  return text.replace(
    severalForms,
    (match, ...[first, second, letters, digits, version, name]: (string | undefined)[]) =>
      `${match} ${name ? `${name.replace(/[@_]/g, "")}0` : (version ?? `${first ?? letters}${second ?? digits}`)}`,
  );
}

/**
 * Prepares `text` for `to_tsvector`: no accents, added spellings, pairs of characters for scripts
 * without spaces.
 */
export function searchText(text: string): string {
  const letters = decomposed(headOf(text, most.characters).replaceAll("\u0000", " "));
  const latin = letters.replace(/(?<=\p{Script=Latin})\p{M}+/gu, "");
  const plain = normalForm(withOneForm(latin), "NFC").toLowerCase();
  let remaining = most.unsegmented;
  const spaced = plain.replace(unsegmented, (run) => {
    const read = headOf(run, remaining);
    remaining -= read.length;
    return ` ${partsOf(read).join(" ")} `;
  });
  const short = spaced
    .replace(longUnspaced, (run) => run.replace(signs, " "))
    .replace(longWord, "$1");
  return indexable(short);
}

export const searchName = (name: string): string => searchText(headOf(name, most.name));

function decomposed(text: string): string {
  let parts = "";
  for (let start = 0; start < text.length && parts.length < most.characters; start += most.part) {
    parts += normalForm(text.slice(start, start + most.part), "NFKD");
  }
  return headOf(parts, most.characters);
}

function indexable(text: string): string {
  // Each character is at most one word of three bytes.
  if (text.length <= most.words) return text;
  const words = new Set<string>();
  let bytes = 0;
  for (const { 0: word, index } of text.matchAll(anyWord)) {
    bytes += Buffer.byteLength(word) + 1;
    words.add(word);
    if (bytes > most.bytes || words.size > most.words) return text.slice(0, index);
  }
  return text;
}

const ideograph = /\p{Script=Han}/u;

function partsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return [...pairs, ...characters.filter((character) => ideograph.test(character))];
}
