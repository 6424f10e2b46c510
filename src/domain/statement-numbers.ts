import { type DetailReading, detailVocabulary } from "./detail-readings.js";
import { joiners } from "./detail-words.js";
import { plainWords } from "./plain-words.js";
import type { StatementWord } from "./statement-words.js";

const ordinalEnds = /^(?:st|nd|rd|th|er|re|e|eme|ere|ste|de|o|a|os|as|й|я|е|го|ый|ая|ος|η)$/u;
const joining = new Set(joiners.split(/\s+/).map((word) => plainWords(word)));

/** The number that begins at `at`, in figures or in words, and how many words it takes; null where there is none. */
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
    const scale =
      next &&
      detailVocabulary()
        .numerals.get(next.plain)
        ?.find(({ value }) => value >= 1_000);
    const values = numericValues(plain);
    return scale
      ? {
          plain: `${plain} ${next.plain}`,
          readings: values.map((one) => number(String(Number(one) * scale.value))),
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

/** The number in the words of one language from `at` on: "two hundred and five", "treinta y cinco". */
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

/** A number that goes on with `value`; null where another one begins there. */
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

/** The values that figures may have: "1,000" and "1.000" are a thousand in one country and one in another. */
function numericValues(figures: string): string[] {
  const plain = figures.replace(/−/g, "-").replace(/–/g, "-");
  const short = /^0\d$/.test(plain) ? [plain.slice(1)] : [];
  const grouped = /^-?\d{1,3}(?:[ ,.']\d{3})+$/.test(plain) ? [plain.replace(/[ ,.']/g, "")] : [];
  const decimal = /^-?\d+,\d+$/.test(plain) ? [plain.replace(",", ".")] : [];
  const both = /^-?\d{1,3}(?:,\d{3})+\.\d+$/.test(plain) ? [plain.replaceAll(",", "")] : [];
  return [...new Set([...grouped, ...decimal, ...both, ...short, plain])];
}
