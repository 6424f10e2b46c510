import * as chrono from "chrono-node";

/** By search language: a locale and Chrono's reader of it. "simple" is read in English. */
export const dateLocales = {
  simple: ["en", chrono.en],
  english: ["en", chrono.en],
  arabic: ["ar", chrono.ar],
  dutch: ["nl", chrono.nl],
  finnish: ["fi", chrono.fi],
  french: ["fr", chrono.fr],
  german: ["de", chrono.de],
  indonesian: ["id", chrono.id],
  italian: ["it", chrono.it],
  portuguese: ["pt", chrono.pt],
  russian: ["ru", chrono.ru],
  spanish: ["es", chrono.es],
  swedish: ["sv", chrono.sv],
  ukrainian: ["uk", chrono.uk],
  vietnamese: ["vi", chrono.vi],
} as const;

export const dateLanguages = Object.keys(dateLocales) as (keyof typeof dateLocales)[];

const figures = [
  "1",
  "12",
  "2020",
  "1/",
  "1:",
  "1.",
  "1,",
  "-",
  "+",
  ",",
  ".",
  "1-2",
  "3s",
  "(",
  "a",
];

/** What Chrono's patterns for `language`, Japanese and Chinese look for, `Intl`'s names, digits. */
export function dateWords(language: keyof typeof dateLocales): string[] {
  const [locale, reader] = dateLocales[language];
  const context = new chrono.ParsingContext("", new Date());
  const patterns = [reader, chrono.ja, chrono.zh].flatMap(({ casual }) =>
    casual.parsers.map((parser) => parser.pattern(context).source),
  );
  const named = patterns.flatMap((source) => source.match(/[\p{L}\p{M}][\p{L}\p{M} '.]*/gu) ?? []);
  const names = [{ month: "long" }, { month: "short" }, { weekday: "long" }] as const;
  const days = Array.from({ length: 12 }, (_, index) => Date.UTC(2023, index, 1 + index));
  const written = names.flatMap((options) => {
    const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" });
    return days.map((day) => format.format(day));
  });
  return [...new Set([...named, ...written, ...figures])];
}
