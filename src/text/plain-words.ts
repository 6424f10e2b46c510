import data from "./letters.json" with { type: "json" };
import { normalForm } from "./normal-value.js";
import { visibleText } from "./storable-text.js";

const unspacedScripts =
  "\\p{scx=Hani}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}";
/** Scripts that prefix articles and prepositions to words without a space. */
const prefixingScripts = "\\p{scx=Arab}\\p{scx=Hebr}\\p{scx=Ethi}";

const unspaced = new RegExp(`[${unspacedScripts}\\p{scx=Mymr}${prefixingScripts}]`, "u");
const wordStart = "(?<![\\p{L}\\p{M}\\p{N}])";
const wordEnd = "(?![\\p{L}\\p{M}\\p{N}])";

export const isUnspaced = (word: string): boolean => unspaced.test(word);

/**
 * Pattern source (flag "u") that matches any stem in `plainWords`; "_" is a space, a final "*" any
 * ending.
 */
export function anyStem(stems: string): string {
  const entire = { before: wordStart, words: [] as string[], after: wordEnd };
  const begun = { before: wordStart, words: [] as string[], after: "" };
  const anywhere = { before: "", words: [] as string[], after: "" };
  for (const stem of plainWords(stems).split(/\s+/).filter(Boolean)) {
    const spaced = stem.endsWith("*") ? begun : entire;
    const group = isUnspaced(stem) ? anywhere : spaced;
    group.words.push(stem.replace(/\*/g, "").replaceAll("_", "\\s?").replaceAll("-", "[- ]"));
  }
  // One look-around per group, since each takes long to compile.
  const patterns = [entire, begun, anywhere]
    .filter(({ words }) => words.length > 0)
    .map(({ before, words, after }) => `${before}(?:${words.join("|")})${after}`);
  return patterns.length === 0 ? "(?!)" : `(?:${patterns.join("|")})`;
}

function byPairs(text: string): [string, string][] {
  const characters = [...text];
  return characters.flatMap((one, at) => (at % 2 === 0 ? [[one, characters[at + 1] ?? ""]] : []));
}

/**
 * Lookalikes and the letter that they resemble. Case matters: \u039D looks like N, \u03BD like v.
 */
const twins = new Map(byPairs(data.lookalikes));

/** First code points of boxed, circled and flag alphabets, which have no plain form in Unicode. */
const alphabets = [0x1f130, 0x1f150, 0x1f170, 0x1f1e6];

/** Cache by code point: the similar UTF-16 unit plus 1; 0 if not computed. */
const plainUnits = new Uint16Array(0x11_0000);

function plainUnit(point: number): number {
  const cached = plainUnits[point];
  if (cached) return cached - 1;
  const found = findPlainForm(String.fromCodePoint(point)).charCodeAt(0) || 0;
  plainUnits[point] = found + 1;
  return found;
}

function findPlainForm(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const alphabet = alphabets.find((first) => code >= first && code < first + 26);
  if (alphabet !== undefined) return String.fromCharCode(97 + code - alphabet);
  if (/[\p{Default_Ignorable_Code_Point}\p{Cf}]|(?!\s)\p{Cc}/u.test(character)) return "";
  const [base = ""] = (twins.get(character) ?? character)
    .normalize("NFKD")
    .replace(/[\u0300-\u036F]/g, "");
  return (twins.get(base) ?? base).toLowerCase();
}

/**
 * Replaces each character by a similar plain letter, keeping the length; "\0" for invisible ones.
 */
export function plainLetters(text: string): string {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) ?? 0;
    units[at] = plainUnit(point);
    if (point > 0xffff) at++;
  }
  return Buffer.from(units.buffer).toString("utf16le");
}

const spellings = new Map([...Object.entries(data.spelledOut), ...byPairs(data.spellings)]);
const spelled = new RegExp(`[${[...spellings.keys()].join("")}]`, "gu");

/** The letter that `letter` is another spelling of. */
export const plainSpelling = (letter: string): string => spellings.get(letter) ?? letter;

/** Writes Latin letters without a decomposition in plain ones: "œ" as "oe", "ø" as "o". */
export const plainLatin = (text: string): string =>
  text.replace(/(?![a-z])\p{Script=Latin}/gu, plainSpelling);

const accents = /[\u0300-\u036F\u0591-\u05C7\u0640\u064B-\u065F\u0670]/g;

/** Folds case, width, accents, spellings and white space (to " " or "\n") for comparing words. */
export function plainWords(text: string): string {
  const folded = normalForm(visibleText(text), "NFKC")
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return normalForm(normalForm(folded, "NFD").replace(accents, ""), "NFC")
    .replace(spelled, plainSpelling)
    .replace(/\s+/g, plainSpace);
}

const plainSpace = (space: string) => (space.includes("\n") ? "\n" : " ");

const figures: Readonly<Record<string, string>> = data.figures;

/**
 * Readings without escapes, lookalikes, and digits for letters, if they differ from `plain`, the
 * `plainWords` of `text`.
 */
export function undisguised(text: string, plain: string): string[] {
  const visible = normalForm(visibleText(text), "NFKC");
  const decoded = decodeEscapes(visible);
  const latin = plainLetters(normalForm(decoded, "NFD"))
    .replaceAll("\0", "")
    .replace(/\s+/g, plainSpace);
  const letters = latin.replace(/[013457890@$!|€]/g, (sign, at: number) =>
    /[a-z]/.test(latin[at - 1] ?? "") || /[a-z]/.test(latin[at + 1] ?? "")
      ? (figures[sign] ?? sign)
      : sign,
  );
  return [...new Set([latin, letters])].filter((reading) => reading !== plain);
}

export const joinedLetters = (text: string): string => text.replace(/[^a-z]+/g, "");

function decodeEscapes(text: string): string {
  if (!/[&\\%]/.test(text)) return text;
  const decode = (whole: string, code: string, base: number) => {
    const point = Number.parseInt(code, base);
    return point > 31 && point < 0x11_0000 ? String.fromCodePoint(point) : whole;
  };
  return text
    .replace(/&#x([0-9a-f]{1,6});?/gi, (whole, code: string) => decode(whole, code, 16))
    .replace(/&#(\d{1,7});?/g, (whole, code: string) => decode(whole, code, 10))
    .replace(/(?:\\u\{?|\\x|%)([0-9a-f]{2,4})\}?/gi, (whole, code: string) =>
      decode(whole, code, 16),
    );
}
