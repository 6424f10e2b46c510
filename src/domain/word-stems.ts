import { plainWords } from "./plain-words.js";

/** Scripts that are written without spaces between words. */
const unspacedScripts =
  "\\p{scx=Hani}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}";
/** Scripts that put articles and prepositions in front of their words without a space. */
const prefixingScripts = "\\p{scx=Arab}\\p{scx=Hebr}\\p{scx=Ethi}";

const unspaced = new RegExp(`[${unspacedScripts}]`, "u");
const prefixing = new RegExp(`[${prefixingScripts}]`, "u");
const beginning = "(?<![\\p{L}\\p{M}\\p{N}])";
const ending = "(?![\\p{L}\\p{M}\\p{N}])";

/** Whether `word` is of a script in which it is not seen where words begin. */
export function isUnspaced(word: string): boolean {
  return unspaced.test(word) || prefixing.test(word);
}

/**
 * The source of a pattern, for the flag "u", that finds any of the stems in text as `plainWords` writes it. Stems stand
 * between white space, "_" is a space within one, "*" any ending.
 *
 * @param whole whether Arabic, Hebrew and Ethiopic words are to be whole, but for "and" in front. @default false
 */
export function anyStem(stems: string, whole = false): string {
  const patterns = plainWords(stems)
    .split(/\s+/)
    .filter((stem) => stem !== "")
    .map((stem) => {
      const words = stem.replace(/\*/g, "").replaceAll("_", "\\s?").replaceAll("-", "[- ]");
      if (unspaced.test(stem)) return words;
      if (prefixing.test(stem)) return whole ? `${beginning}[وفו]?${words}${ending}` : words;
      return `${beginning}${words}${stem.endsWith("*") ? "" : ending}`;
    });
  return patterns.length === 0 ? "(?!)" : `(?:${patterns.join("|")})`;
}
