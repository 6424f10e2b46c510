import { plainWords } from "../../text/plain-words.js";
import { casesOf, dateForms, joinedOrdinalsOf, numeralForms, withoutFleetingVowel } from "./case-forms.js";
import { additions, contrasts, fractions, negations, numerals, units } from "./detail-words.js";

export interface DetailReading {
  readonly kind: "number" | "ordinal" | "part" | "day" | "month" | "unit" | "addition" | `contrast${number}`;
  /** Words with one value mean the same. */
  readonly value: string;
  /** Whether it is as often another word: then it counts only against another of its kind. */
  readonly weak: boolean;
  /** Of days, months and numerals. Two values of one language always differ. */
  readonly language?: string;
}

interface Numeral {
  readonly language: string;
  readonly value: number;
}

/** Languages that PostgreSQL indexes, and the most spoken others. */
const calendars =
  "en de nl af fr es pt gl it ca ro sv da nb nn is fi et hu pl cs sk sl hr sr bg mk ru uk be lt lv el tr az sq eu ga cy hy ka yi ar he fa ur hi mr ne bn ta te kn ml gu pa id ms fil vi sw ko ja zh th";

let vocabulary: ReturnType<typeof makeVocabulary> | undefined;

export function detailVocabulary(): ReturnType<typeof makeVocabulary> {
  vocabulary ??= makeVocabulary();
  return vocabulary;
}

function makeVocabulary() {
  const readings = new Map<string, DetailReading[]>();
  // Readings of the beginnings of single words, by their first three letters.
  const stems = new Map<string, [string, DetailReading][]>();
  const numbers = new Map<string, Numeral[]>();
  const add: Add = (name, kind, value, weak = false, language) => {
    const word = wordOf(name);
    const reading = { kind, value, weak: weak || name.startsWith("~"), ...(language && { language }) };
    if (word.endsWith("*")) push(stems, word.slice(0, 3), [word.slice(0, -1), reading]);
    else if (word !== "" && word !== "-") push(readings, word, reading);
  };
  addNumerals(add, (word, numeral) => push(numbers, wordOf(word), numeral));
  for (const line of lines(fractions)) {
    const at = line.lastIndexOf(" ");
    for (const word of line.slice(0, at).split("/")) add(word, "part", line.slice(at + 1));
  }
  for (const [index, line] of lines(units).entries()) {
    for (const word of line.split("/")) add(word, "unit", String(index));
  }
  for (const word of words(additions)) add(word, "addition", "also");
  for (const [index, group] of contrasts.split("|").entries()) {
    const weak = group.trim().startsWith("~ ");
    for (const [side, names] of words(group).entries()) {
      for (const word of names.split("/")) add(word, `contrast${index}`, String(side), weak);
    }
  }
  addCalendars(add);
  const [negating = "", alsoNegating = ""] = negations.split("|");
  return {
    ...{ readings, stems, numerals: numbers },
    // Words that negate by themselves, and words that come with those or in their place.
    negating: new Set(words(negating).map(wordOf)),
    alsoNegating: new Set(words(alsoNegating).map(wordOf)),
  };
}

type Add = (
  name: string,
  kind: DetailReading["kind"],
  value: string,
  weak?: boolean,
  language?: string,
) => void;

function addNumerals(add: Add, addNumeral: (word: string, numeral: Numeral) => void): void {
  for (const line of lines(numerals)) {
    const [language = "", ones = "", tens = "", large = "", ordinals = "", joined = ""] = line
      .split("|")
      .map((part) => part.trim());
    const known: { word: string; value: number }[] = [
      ...valuesOf(ones, (index) => index),
      ...valuesOf(tens, (index) => (index + 2) * 10),
      ...valuesOf(large, (index) => [100, 1_000, 1_000_000][index] ?? 0),
    ];
    const tied = compounds(known, joined);
    for (const { word, value } of [...known, ...tied]) {
      add(word, "number", String(value), false, language);
      addNumeral(word, { language, value });
    }
    for (const { word, value } of [
      ...ordinalsOf(language, ordinals),
      ...tied.flatMap((tie) =>
        joinedOrdinalsOf(language, tie.word).map((word) => ({ word, value: tie.value })),
      ),
    ]) {
      add(word, "ordinal", String(value), false, language);
    }
  }
  for (const { language, word, value, isOrdinal } of numeralForms()) {
    add(word, isOrdinal ? "ordinal" : "number", String(value), false, language);
    if (!isOrdinal) addNumeral(word, { language, value });
  }
}

function ordinalsOf(language: string, listed: string): { word: string; value: number }[] {
  const ordinalAt = (index: number) => (index < 20 ? index + 1 : (index - 17) * 10);
  return valuesOf(listed, ordinalAt).flatMap(({ word, value }) =>
    casesOf(language, word).map((form) => ({ word: form, value })),
  );
}

function valuesOf(list: string, valueAt: (index: number) => number): { word: string; value: number }[] {
  return words(list).flatMap((forms, index) =>
    forms === "-" ? [] : forms.split("/").map((word) => ({ word, value: valueAt(index) })),
  );
}

/** Numbers in one word, "einundzwanzig" and "ventuno", by the order of their parts: "u und t". */
function compounds(
  known: readonly { word: string; value: number }[],
  joined: string,
): { word: string; value: number }[] {
  if (joined === "") return [];
  const [first, ...rest] = joined.split(" ");
  const between = rest.length > 1 ? (rest[0] ?? "") : "";
  const plain = known.map(({ word, value }) => ({ word: wordOf(word), value }));
  const units = plain.filter(({ value }) => value > 0 && value < 10);
  const tens = plain.filter(({ value }) => value >= 20 && value < 100);
  const tied = tens.flatMap((ten) =>
    units.flatMap((unit) => {
      const value = ten.value + unit.value;
      const elided =
        /[aeiou]$/.test(ten.word) && /^[aeiou]/.test(unit.word) ? [ten.word.slice(0, -1) + unit.word] : [];
      const names = first === "u" ? [unit.word + between + ten.word] : [ten.word + unit.word, ...elided];
      return names.map((word) => ({ word, value }));
    }),
  );
  const hundreds = plain.filter(({ value }) => value === 100 || value === 1_000);
  const multiplied = hundreds.flatMap(({ word, value }) =>
    units.map((unit) => ({ word: unit.word + word, value: unit.value * value })),
  );
  return [...tied, ...multiplied];
}

function addCalendars(add: Add): void {
  for (const { kind, value, word } of dateForms()) add(word, kind, value);
  for (const locale of words(calendars)) {
    const named = (options: Intl.DateTimeFormatOptions) => {
      const format = new Intl.DateTimeFormat(`${locale}-u-ca-gregory`, { ...options, timeZone: "UTC" });
      return (date: number, type: "weekday" | "month") =>
        format.formatToParts(date).find((part) => part.type === type)?.value ?? "";
    };
    const inDate = named({ weekday: "long", month: "long", day: "numeric" });
    const alone = named({ month: "long" });
    const short = named({ weekday: "short", month: "short" });
    const shortInDate = named({ month: "short", day: "numeric" });
    for (let index = 0; index < 7; index++) {
      const date = Date.UTC(2023, 0, 1 + index);
      addName(add, locale, inDate(date, "weekday"), ["day", index]);
      add(nameOf(short(date, "weekday")), "day", String(index), true, locale);
    }
    for (let index = 0; index < 12; index++) {
      const date = Date.UTC(2023, index, 15);
      for (const form of [inDate, alone]) addName(add, locale, form(date, "month"), ["month", index]);
      for (const form of new Set([short(date, "month"), shortInDate(date, "month")])) {
        add(nameOf(form), "month", String(index), true, locale);
      }
    }
  }
}

/** Adds the name of a day or a month, its plural, and its stems in cases. */
function addName(add: Add, locale: string, said: string, [kind, value]: ["day" | "month", number]): void {
  const word = nameOf(said);
  if (word === "") return;
  const weak = ambiguous.has(word);
  add(word, kind, String(value), weak, locale);
  add(`${word}s`, kind, String(value), weak, locale);
  if (/\p{Script=Hangul}{3}/u.test(word)) add(`${word}*`, kind, String(value), false, locale);
  const stem = [...word].slice(0, word.length > 7 ? -2 : -1).join("");
  // A phrase is looked up whole: "March 4" is not a form of March.
  if (word.includes("_") || plainlyWritten.has(locale)) return;
  for (const part of [stem, withoutFleetingVowel(word)]) {
    if (part !== null && part.length >= 4) add(`${part}*`, kind, String(value), true, locale);
  }
}

/** "" where the language has only a number. */
function nameOf(said: string): string {
  const word = said
    .toLowerCase()
    .replace(/[\s-]+/g, "_")
    .replace(/[.'’]/g, "");
  return /\p{L}/u.test(word) && [...word].length > 1 ? word : "";
}

const ambiguous: ReadonlySet<string> = new Set(words("may march mars mart marts august ocak ekim pazar"));
const plainlyWritten: ReadonlySet<string> = new Set(words("en de nl af fr es pt gl it ca"));

function wordOf(name: string): string {
  // A hyphen parts words of a statement as a space does.
  return plainWords(name.replace(/^~/, "").replace(/(?<=\p{L})-(?=\p{L})/gu, "_")).trim();
}

function words(list: string): string[] {
  return list.split(/\s+/).filter((word) => word !== "" && word !== "~");
}

function lines(table: string): string[] {
  return table.trim().split("\n");
}

export function push<Item>(map: Map<string, Item[]>, key: string, item: Item): void {
  const known = map.get(key);
  if (known) known.push(item);
  else map.set(key, [item]);
}
