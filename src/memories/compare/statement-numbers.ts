import { normalForm, withPlainFigures } from "../../text/normal-value.js";
import { plainWords } from "../../text/plain-words.js";
import { visibleText } from "../../text/storable-text.js";
import { type DetailReading, detailVocabulary } from "./detail-readings.js";
import { joiners } from "./detail-words.js";

export interface StatementWord {
  /** As words are compared: see `plainWords`. */
  readonly plain: string;
  readonly kind: "word" | "number" | "sign" | "address" | "coined";
  readonly capital: boolean;
  /** Begins a sentence, where a capital says little. */
  readonly initial: boolean;
  /** Follows the word before directly, as "th" in "5th". */
  readonly joined: boolean;
}

export interface ReadWord extends StatementWord {
  readonly readings: readonly DetailReading[];
}

const mostCharacters = 10_000;

const pattern = new RegExp(
  [
    // An address says who or where: no part of it is a word. So do handles, paths, and names of sites and files.
    "(?<address>[^\\s@<>()\"']{1,64}@[^\\s@<>()\"']{1,255}|[a-z][a-z0-9+.-]{1,9}://[^\\s<>()\"']{1,500}" +
      "|(?<![\\p{L}\\p{N}])(?:@|~?/)[\\p{L}\\p{N}_./-]{1,100}[\\p{L}\\p{N}]" +
      "|(?<![\\p{L}\\p{N}])[\\p{L}\\p{N}-]{1,60}(?:\\.[a-z][a-z0-9]{1,9}){1,5}(?![\\p{L}\\p{N}]))",
    "(?<number>(?:(?<![\\p{L}\\p{N}.,:/'-])[-−])?(?:[0-9]{1,3}(?: [0-9]{3})+(?![0-9])|[0-9]+(?:[.,:/'\\-–][0-9]+)*))",
    // "C++", "F#", "ana_b", "12a": what is beside the letters tells one from the other.
    "(?<coined>\\p{L}[\\p{L}\\p{N}]{0,20}(?:\\+{1,2}|#)(?![\\p{L}\\p{N}+#])" +
      "|[\\p{L}\\p{N}]{1,60}(?:_[\\p{L}\\p{N}]{1,60}){1,10}|(?<=[0-9])\\p{L}(?![\\p{L}\\p{N}]))",
    "(?<word>[\\p{L}\\p{M}]+(?:['’ʼ][\\p{L}\\p{M}]+)*['’ʼ]?)",
    "(?<sign>[%‰°$€£¥₹₩₽₺₴฿₫₪#^½&])",
  ].join("|"),
  "giu",
);

const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]{2,}/u;
let segmenter: Intl.Segmenter | undefined;

export function statementWords(text: string): StatementWord[] {
  const visible = visibleText(text.slice(0, mostCharacters));
  const clean = normalForm(withPlainFigures(visible), "NFKC")
    .replace(/\b([ap])\.\s?m\b\.?/gi, "$1m")
    .replace(/(?<![\p{L}\p{N}.])\.(?=[0-9])/gu, "0.");
  const words: StatementWord[] = [];
  let end = 0;
  for (const match of clean.matchAll(pattern)) {
    const [said] = match;
    const between = clean.slice(end, match.index);
    end = match.index + said.length;
    const place = {
      joined: words.length > 0 && between === "",
      initial: words.length === 0 || /[.!?。！？:;\n]\s*["'“«(]*$/u.test(between),
    };
    words.push(...wordsOf(said, kinds.find((name) => match.groups?.[name]) ?? "word", place));
  }
  return words;
}

const kinds = ["address", "number", "coined", "word", "sign"] as const;

function wordsOf(
  said: string,
  kind: StatementWord["kind"],
  place: Pick<StatementWord, "joined" | "initial">,
): StatementWord[] {
  return partsOf(said, kind).flatMap((part, index) => {
    const plain = kind === "number" ? part : plainWords(part).trim();
    const capital = kind === "word" && /^\p{Lu}/u.test(part);
    const where = index === 0 ? place : { joined: true, initial: false };
    return plain === "" ? [] : [{ plain, kind, capital, ...where }];
  });
}

/** A word and what is written as one with it, or the words of a script without spaces. */
function partsOf(said: string, kind: StatementWord["kind"]): string[] {
  if (kind !== "word") return [said];
  if (unspaced.test(said)) {
    segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
    return [...segmenter.segment(said)].map(({ segment }) => segment);
  }
  const plain = said.replace(/[’ʼ]/g, "'").replace(/'$/, "");
  const [whole = "", before = "", after = ""] = /^([^']+)'([^']+)$/u.exec(plain) ?? [];
  if (whole === "") return [plain];
  const end = after.toLowerCase();
  if (end === "t" && /n$/i.test(before))
    return [contracted.get(before.toLowerCase()) ?? before.slice(0, -1), "not"];
  if (end === "s") return [before];
  // "l'eau" is two words, "п'ять" is one.
  return before.length <= 2 && /^\p{Script=Latin}/u.test(before) ? [`${before}'`, after] : [plain];
}

/** What stands before "n't" where that is not its own word. */
const contracted = new Map([
  ["can", "can"],
  ["won", "will"],
  ["shan", "shall"],
]);

const ordinalEnds = /^(?:st|nd|rd|th|er|re|e|eme|ere|ste|de|o|a|os|as|й|я|е|го|ый|ая|ος|η)$/u;
const joining = new Set(joiners.split(/\s+/).map((word) => plainWords(word)));

/** The number that begins at `at`, in figures or in words, and its count of words. */
export function numberAt(
  said: readonly StatementWord[],
  at: number,
): { plain: string; readings: readonly DetailReading[]; length: number } | null {
  const { plain, kind } = said[at] as StatementWord;
  const next = said[at + 1];
  if (kind === "number") {
    const number = (value: string) => ({ kind: "number", value, weak: false }) as const;
    if (next?.joined && ordinalEnds.test(next.plain)) {
      const ordinal = { kind: "ordinal", value: plain, weak: false } as const;
      return { plain: `${plain}.`, readings: [ordinal, number(plain)], length: 2 };
    }
    const scale = scaleOf(next);
    const values = numericValues(plain);
    return next && scale
      ? {
          plain: `${plain} ${next.plain}`,
          readings: values.map((one) => number(String(Number(one) * scale))),
          length: 2,
        }
      : { plain, readings: values.map(number), length: 1 };
  }
  const { numerals } = detailVocabulary();
  let longest = { length: 1, value: 0 };
  for (const { language } of numerals.get(plain) ?? []) {
    const found = numeralAt(said, at, language);
    if (found.length > longest.length) longest = found;
  }
  if (longest.length === 1) return null;
  const value = String(longest.value);
  const names = said.slice(at, at + longest.length).map((word) => word.plain);
  return {
    plain: names.join("_"),
    readings: [{ kind: "number", value, weak: false }],
    length: longest.length,
  };
}

/** The factor of the next word: "5 million", "50k". */
function scaleOf(next: StatementWord | undefined): number | undefined {
  if (next?.joined && next.plain === "k") return 1_000;
  const numerals = detailVocabulary().numerals.get(next?.plain ?? "");
  return numerals?.find(({ value }) => value >= 1_000)?.value;
}

function numeralAt(
  said: readonly StatementWord[],
  at: number,
  language: string,
): { length: number; value: number } {
  const { numerals } = detailVocabulary();
  const valueAt = (place: number) =>
    numerals.get(said[place]?.plain ?? "")?.find((numeral) => numeral.language === language)?.value;
  const first = valueAt(at) ?? 0;
  let sum = { total: 0, current: first, last: first };
  let length = 1;
  for (let place = at + 1; place < said.length; place++) {
    if (joining.has(said[place]?.plain ?? "") && sum.last >= 20) place++;
    const value = valueAt(place);
    const next = value === undefined ? null : plus(sum, value);
    if (next === null) break;
    sum = next;
    length = place - at + 1;
  }
  return { length, value: sum.total + sum.current };
}

/** The number continued by `value`; null where another one begins. */
function plus(
  { total, current, last }: { total: number; current: number; last: number },
  value: number,
): { total: number; current: number; last: number } | null {
  if (value >= 1_000) {
    return current < value ? { total: total + Math.max(1, current) * value, current: 0, last: value } : null;
  }
  if (value === 100 && current > 0 && current < 100) return { total, current: current * value, last: value };
  return last >= 20 && value < last && value > 0 ? { total, current: current + value, last: value } : null;
}

/** "1,000" and "1.000" are a thousand in one country and one in another. */
function numericValues(figures: string): string[] {
  const plain = figures.replace(/−/g, "-").replace(/–/g, "-");
  const short = /^0\d(?::\d\d)*$/.test(plain) ? [plain.slice(1)] : [];
  const grouped = /^-?\d{1,3}(?:[ ,.']\d{3})+$/.test(plain) ? [plain.replace(/[ ,.']/g, "")] : [];
  const decimal = /^-?\d+,\d+$/.test(plain) ? [plain.replace(",", ".")] : [];
  const both = /^-?\d{1,3}(?:,\d{3})+\.\d+$/.test(plain) ? [plain.replaceAll(",", "")] : [];
  return [...new Set([...grouped, ...decimal, ...both, ...short, plain])];
}
