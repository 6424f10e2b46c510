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
  const groups = {
    anywhere: [] as string[],
    joined: [] as string[],
    begun: [] as string[],
    entire: [] as string[],
  };
  for (const stem of plainWords(stems).split(/\s+/)) {
    if (stem === "") continue;
    const words = stem.replace(/\*/g, "").replaceAll("_", "\\s?").replaceAll("-", "[- ]");
    if (unspaced.test(stem) || (prefixing.test(stem) && !whole)) groups.anywhere.push(words);
    else if (prefixing.test(stem)) groups.joined.push(words);
    else (stem.endsWith("*") ? groups.begun : groups.entire).push(words);
  }
  // What stands around words is looked at once for all of them: each such class takes long to compile.
  const patterns = [
    around(beginning, groups.entire, ending),
    around(beginning, groups.begun, ""),
    around(`${beginning}[وفו]?`, groups.joined, ending),
    around("", groups.anywhere, ""),
  ].filter((pattern) => pattern !== "");
  return patterns.length === 0 ? "(?!)" : `(?:${patterns.join("|")})`;
}

function around(before: string, words: readonly string[], after: string): string {
  return words.length === 0 ? "" : `${before}(?:${words.join("|")})${after}`;
}
