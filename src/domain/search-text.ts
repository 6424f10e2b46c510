import { irregularForms } from "./irregular-forms.js";

/** Longest text indexed for search, in characters: PostgreSQL refuses lexemes of more than 1 MB in one value. */
const mostCharacters = 100_000;

/** Scripts that `to_tsvector` does not split into words; the long vowel mark "ー" belongs to two of them. */
const unsegmented =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]+/gu;

/** "don't", "won't", "isn't": stop words all, but not to PostgreSQL, which finds "won" in them. */
const negated = /\b[a-z]+n['’]t\b/g;

/**
 * `text` as it is handed to PostgreSQL's `to_tsvector`, for indexing and for queries alike.
 *
 * Accents are dropped (café, cafe), irregular English forms become their base (went, go), and runs of scripts
 * written without spaces become overlapping pairs of characters, and single ideographs.
 */
export function searchText(text: string, language: string): string {
  const plain = text
    .slice(0, mostCharacters)
    .replaceAll("\u0000", " ")
    .normalize("NFKD")
    .replace(/(?<=\p{Script=Latin})\p{M}+/gu, "")
    .normalize("NFC")
    .toLowerCase();
  const spaced = plain.replace(unsegmented, (run) => ` ${partsOf(run).join(" ")} `);
  if (language !== "english") return spaced;
  return spaced.replace(negated, " ").replace(/[a-z]+/g, (word) => irregularForms.get(word) ?? word);
}

function partsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return [...pairs, ...characters.filter((character) => /\p{Script=Han}/u.test(character))];
}
