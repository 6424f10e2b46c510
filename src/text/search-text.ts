import { createPauses } from "../pauses.js";
import { wordSegmenter } from "./cut-text.js";
import { normalForm } from "./normal-value.js";
import { plainLatin } from "./plain-words.js";
import { hasWords, headOf } from "./storable-text.js";

/** What follows is not searched. A long novel has as many. */
const searchedBytes = 1_000_000;

const most = {
  /** Takes some 5 ms. `to_tsvector` fails for more than 1 MB of different words. */
  piece: 5_000,
  /** Longer words are cut. Digests have up to 128. */
  letters: 128,
  unspaced: 256,
  name: 200,
  parts: 8,
};

const longUnspaced = new RegExp(`\\S{${most.unspaced + 1},}`, "gu");
const controls = /\p{Cc}/gu;
const nonWords = /[^\p{L}\p{M}\p{N}]+/gu;
const longWord = new RegExp(`([\\p{L}\\p{M}\\p{N}]{${most.letters}})[\\p{L}\\p{M}\\p{N}]+`, "gu");

/**
 * Scripts that `to_tsvector` does not split into words; the long vowel mark "ー" belongs to two of
 * them.
 */
const paired = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}]+/gu;
/** Alphabets without spaces: pairs of their letters say nothing, and Unicode's dictionaries have their words. */
const unspacedWords = /[\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]+/gu;

/** Words with a second spelling: "Wi-Fi", "LH 1234", "v2.3.1", "@ana_m", "MAX_ROWS", "C++", "1,250", "+351 912 345 678". */
const severalForms = new RegExp(
  "(?<![\\p{L}\\p{N}-])(?:" +
    "(\\p{Script=Latin}{1,3})-(\\p{Script=Latin}{2,8})(?![\\p{L}\\p{N}-])|([A-Z]{1,3})[ -](\\d{2,5})(?![\\p{L}\\p{N}])|" +
    "[vV]\\.?(\\d{1,4}(?:\\.\\d{1,4}){1,3})(?![\\p{L}\\p{N}])|" +
    "(@[\\p{L}_]{2,30}|[A-Z]{2,30}(?:_[A-Z\\d]{1,30})+|\\p{L}{1,30}(?:\\+{1,2}|#)(?![\\p{L}\\p{N}+#]))|" +
    "(\\d{1,3}(?:[,.' ]\\d{3})+(?![.,]?\\p{N})|\\+?\\d{2,4}(?: \\d{2,4}){2,6}(?!\\p{N})|\\+\\d{6,15}))",
  "gu",
);

const spelledOut: Readonly<Record<string, string>> = { "+": "plus", "#": "sharp" };

function withOneForm(text: string): string {
  return text.replace(
    severalForms,
    (
      match,
      ...[first, second, letters, digits, version, name, grouped]: (string | undefined)[]
    ) => {
      if (grouped) return `${match} ${grouped.replace(/\D/g, "")}`;
      const joined = name?.replace(/[@_+#]/g, (sign) => spelledOut[sign] ?? "");
      return `${match} ${joined ? `${joined}0` : (version ?? `${first ?? letters}${second ?? digits}`)}`;
    },
  );
}

const withSpaces = (text: string): string =>
  text.replace(unspacedWords, (run) => {
    const words = Array.from(wordSegmenter.segment(run), ({ segment }) => segment);
    return ` ${words.join(" ")} `;
  });

/** All marks of Latin letters; of others those that texts leave out: stress, and vowels of Hebrew and Arabic. */
const accents =
  /(?<=\p{Script=Latin})\p{M}+|[\u0300\u0301\u0591-\u05C7\u0640\u064B-\u065F\u0670]/gu;

/** No accents, added spellings, and pairs of characters for scripts without spaces. */
export function plainText(text: string): string {
  const bare = normalForm(withSpaces(text), "NFKD").replace(accents, "");
  return plainLatin(normalForm(withOneForm(bare), "NFC").toLowerCase())
    .replace(paired, (run) => ` ${pairsOf(run).join(" ")} `)
    .replace(longUnspaced, (run) => run.replace(nonWords, " "))
    .replace(longWord, "$1");
}

export const plainName = (name: string): string => plainText(headOf(name, most.name));

/**
 * Prepares `text` for the function in `src/search/words.sql`. @param mark before each piece: "~" for
 * what stands beside a question
 */
export const searchText = (text: string, mark = ""): string =>
  [...searchPieces(text, mark)].join("");

/** The same; yields to the event loop. */
export async function searchTextOf(text: string, pause = createPauses()): Promise<string> {
  let terms = "";
  for (const piece of searchPieces(text)) {
    terms += piece;
    await pause();
  }
  return terms;
}

function* searchPieces(text: string, mark = ""): Generator<string> {
  const length = searchedLength(text);
  const accented = new Set<string>();
  for (let at = 0; at < length; ) {
    const end = endOfPiece(text, at, length);
    const piece = text.slice(at, end).replace(controls, " ");
    yield withLabels(plainText(piece), mark) + accentedWords(piece, accented);
    at = end;
  }
}

const longestStopWord = 10;
const latinWord = new RegExp(
  `(?<![\\p{L}\\p{M}\\p{N}])[\\p{Script=Latin}]{1,${longestStopWord}}(?![\\p{L}\\p{M}\\p{N}])`,
  "gu",
);

/** A piece of the words that are not in `known`, as spelled and plain: "für" is a stop word, "fur" is none. */
function accentedWords(text: string, known: Set<string>): string {
  if (/^\p{ASCII}*$/u.test(text)) return "";
  const added = new Map<string, string>();
  for (const [word] of normalForm(text, "NFKC").toLowerCase().matchAll(latinWord)) {
    if (/^[a-z]+$/.test(word) || known.has(word)) continue;
    known.add(word);
    added.set(word, plainText(word));
  }
  if (added.size === 0) return "";
  return `accented\x1F${[...added.keys()].join(" ")}\x1F${[...added.values()].join(" ")}\x1E`;
}

/** Characters of `text` that are searched. */
export function searchedLength(text: string): number {
  if (Buffer.byteLength(text) <= searchedBytes) return text.length;
  return Buffer.from(text)
    .subarray(0, searchedBytes)
    .toString()
    .replace(/\uFFFD$/, "").length;
}

/** White space, and signs of other scripts: "。". */
const betweenWords = /\s|[^\p{ASCII}\p{L}\p{M}\p{N}\p{Cs}]/u;

function endOfPiece(text: string, at: number, length: number): number {
  const end = at + most.piece;
  if (end >= length) return length;
  for (let gap = end; gap > end - most.unspaced; gap--)
    if (betweenWords.test(text[gap] ?? "")) return gap;
  return at + headOf(text.slice(at, end + 1), most.piece).length;
}

/** Text search configurations of PostgreSQL by the script that they are for. */
const languages = {
  russian: "Cyrillic",
  greek: "Greek",
  arabic: "Arabic",
  armenian: "Armenian",
  hindi: "Devanagari",
  tamil: "Tamil",
};
const languageNames = Object.keys(languages);
const ofOneScript = Object.values(languages)
  .map((script) => `\\p{Script=${script}}[\\p{Script=${script}}\\p{M}]*`)
  .map((word) => `(${word}(?:-${word})*)`);
const scriptWord = new RegExp(
  `(?<![\\p{L}\\p{M}\\p{N}_])(?:${ofOneScript.join("|")})(?![\\p{L}\\p{M}\\p{N}_])`,
  "gu",
);

function withLabels(plain: string, mark: string): string {
  const ofScripts = languageNames.map((): string[] => []);
  const own = plain.replace(scriptWord, (word, ...groups: (string | undefined)[]) => {
    ofScripts[groups.indexOf(word)]?.push(word);
    return " ";
  });
  const parts = [...own.matchAll(identifiers)].flatMap(([identifier]) =>
    identifierParts(identifier),
  );
  return [
    `${mark}\x1F${own}\x1E`,
    ...[...languageNames, "part"].map((label, index) => {
      const words = (ofScripts[index] ?? parts).join(" ");
      return words === "" ? "" : `${mark}${label}\x1F${words}\x1E`;
    }),
  ].join("");
}

/** Paths, hosts, addresses, and numbers behind a hyphen, which PostgreSQL takes for negative. */
const identifiers =
  /(?<![\p{Script=Latin}\p{N}_-])[\p{Script=Latin}\p{N}_-]+(?:[.@/\\:]+[\p{Script=Latin}\p{N}_-]+)+|(?<=[\p{L}\p{N}_]-)\p{N}{3,}/gu;

/** "src/main.py" has "src", "main" and "main.py", "docs.example.org" also "example.org". */
function identifierParts(identifier: string): string[] {
  const parts = identifier.split(/[.@/\\:]+/);
  if (parts.length === 1) return parts;
  if (!/\p{L}/u.test(identifier)) return [];
  const ends = [...identifier.matchAll(/[.@/\\:]+/g)]
    .slice(-3, -1)
    .map(({ 0: sign, index }) => identifier.slice(index + sign.length));
  return [
    ...parts.slice(-most.parts).filter((part) => part.length > 2),
    ...ends.filter((end) => /\p{L}/u.test(end)),
  ];
}

/** Whether a prepared text has pictures and no words. */
export const isPictures = (terms: string): boolean =>
  /\p{Extended_Pictographic}|\p{Regional_Indicator}/u.test(terms) && !hasWords(terms);

const spelledWord =
  /[\p{L}\p{M}\p{N}]+(?:(?:[.@/\\:_'’-]+|(?<=\p{N}),(?=\p{N}))[\p{L}\p{M}\p{N}]+)*/gu;
const partOfWord = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * The words of a text as it spells them, once each, with the parts of identifiers; pairs of
 * characters in scripts without spaces.
 */
export function spelledWords(text: string): string[] {
  const words = new Set<string>();
  for (const [word] of withSpaces(text).matchAll(spelledWord)) {
    for (const part of [word, ...(word.match(partOfWord) ?? [])])
      if (part.search(paired) < 0) words.add(part);
    for (const [run] of word.matchAll(paired)) for (const pair of pairsOf(run)) words.add(pair);
  }
  return [...words];
}

const ideograph = /\p{Script=Han}/u;

function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return [...pairs, ...characters.filter((character) => ideograph.test(character))];
}
