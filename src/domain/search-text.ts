import { irregularForms } from "./irregular-forms.js";

/** Longest text indexed for search, in characters: PostgreSQL refuses lexemes of more than 1 MB in one value. */
const mostCharacters = 100_000;

const unsegmented =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]+/gu;

/**
 * `text` as it is handed to PostgreSQL's `to_tsvector`, for indexing and for queries alike.
 *
 * Accents are dropped (café, cafe), irregular English forms become their base (went, go), and runs of scripts
 * written without spaces become overlapping pairs of characters, which `to_tsvector` does not split itself.
 */
export function searchText(text: string, language: string): string {
  const plain = text
    .slice(0, mostCharacters)
    .replaceAll("\u0000", " ")
    .normalize("NFKD")
    .replace(/(?<=\p{Script=Latin})\p{M}+/gu, "")
    .normalize("NFC")
    .toLowerCase();
  const spaced = plain.replace(unsegmented, (run) => ` ${characterPairs(run).join(" ")} `);
  if (language !== "english") return spaced;
  return spaced.replace(/[a-z]+/g, (word) => irregularForms.get(word) ?? word);
}

function characterPairs(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
