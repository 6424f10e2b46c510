import * as chrono from "chrono-node";
import { dayMs } from "../clock.js";
import { normalValue } from "../text/normal-value.js";
import { headOf } from "../text/storable-text.js";
import { startOfDay, zoneClock } from "../text/time-zone.js";

/** Includes `from`, excludes `before`. */
export interface TimeSpan {
  readonly from: Date;
  readonly before: Date;
}

const maxQuestionCharacters = 1_000;
const maxSpans = 8;

/**
 * Days, weeks, months and years in `question`, at most eight. Without a year, the latest one that
 * has begun.
 */
export function questionDates(
  question: string,
  {
    language,
    now,
    timeZone,
  }: { readonly language: string; readonly now: Date; readonly timeZone: string },
): TimeSpan[] {
  const text = headOf(normalValue(headOf(question, maxQuestionCharacters)), maxQuestionCharacters);
  const clock = zoneClock(timeZone);
  const here = new Date(clock(now.getTime()));
  // Chrono reads dates by the clock of this process: this one shows the user's time.
  const reference = new Date(
    here.getUTCFullYear(),
    here.getUTCMonth(),
    here.getUTCDate(),
    here.getUTCHours(),
  );
  return readDates(text, dateReaders(language, text), reference)
    .flatMap(({ text: named, start, end }) => {
      const [from, before] = daysOf(start, named, here) ?? [];
      if (from === undefined || before === undefined) return [];
      const [, last = 0] = (end && daysOf(end, named, here)) ?? [];
      return { from: startOfDay(from, clock), before: startOfDay(Math.max(before, last), clock) };
    })
    .slice(0, maxSpans);
}

/** Midnights in milliseconds, as if in UTC. */
type Days = readonly [from: number, before: number];

/** Null for a time of day, and for the present. */
function daysOf(named: chrono.ParsedComponents, text: string, here: Date): Days | null {
  const unit = unitOf(named);
  const [year, month, day] = [
    named.get("year") ?? 0,
    (named.get("month") ?? 1) - 1,
    named.get("day") ?? 1,
  ];
  if (unit === null || year < 1000 || year > 9000) return null;
  // Short names of weekdays and months are also other words: "sat", "sun", "so", "mar".
  if (!named.isCertain("day") && /^\p{Script=Latin}{1,3}$/u.test(text)) return null;
  const days = spanOf(unit, year, month, day);
  const isBegun = days[0] <= here.getTime();
  // Messages say "today" about their own subject.
  if (isBegun && here.getTime() < days[1] && named.isCertain("day") && !/\p{N}/u.test(text))
    return null;
  if (isBegun || named.isCertain("year")) return days;
  return named.isCertain("month")
    ? spanOf(unit, year - 1, month, day)
    : spanOf(unit, year, month, day - 7);
}

type Unit = "day" | "week" | "month" | "year";

function unitOf(named: chrono.ParsedComponents): Unit | null {
  if (named.isCertain("weekday")) return "day";
  // For a week, Chrono gives the weekday that it counted from.
  if (named.isCertain("day")) return named.get("weekday") === null ? "day" : "week";
  return (["month", "year"] as const).find((unit) => named.isCertain(unit)) ?? null;
}

function spanOf(unit: Unit, year: number, month: number, day: number): Days {
  if (unit === "year") return [Date.UTC(year, 0), Date.UTC(year + 1, 0)];
  if (unit === "month") return [Date.UTC(year, month), Date.UTC(year, month + 1)];
  if (unit === "day") return [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)];
  const monday = day - ((new Date(Date.UTC(year, month, day)).getUTCDay() + 6) % 7);
  // Weeks begin on Sunday in some countries.
  return [Date.UTC(year, month, monday - 1), Date.UTC(year, month, monday + 7)];
}

/** `spans` as PostgreSQL reads `tstzrange[]`. */
export function rangesOf(spans: readonly TimeSpan[]): string[] {
  return spans.map(({ from, before }) => `[${from.toISOString()},${before.toISOString()})`);
}

/**
 * Nearness of a time to the nearest of `spans`, 0 to 1, by the formula of `nearness_1` in
 * search-memories.sql.
 */
export function nearnessInTime(at: Date, spans: readonly TimeSpan[]): number {
  return Math.max(0, ...spans.map((span) => nearnessTo(span, at)));
}

function nearnessTo({ from, before }: TimeSpan, at: Date): number {
  if (at >= from && at < before) return 1;
  if (before.getTime() - from.getTime() > 2 * dayMs) return 0;
  const [earlyMs, lateMs] = [from.getTime() - at.getTime(), at.getTime() - before.getTime()];
  return earlyMs > 2 * dayMs || lateMs > 7 * dayMs
    ? 0
    : 0.5 ** (Math.max(4 * earlyMs, lateMs) / (2 * dayMs));
}

/** Finds the dates that a text names, as chrono-node does. */
export type DateReader = (text: string, reference: Date) => chrono.ParsedResult[];

type Parser = chrono.Chrono["parsers"][number];

/** A group with a quantifier that may match it more than once. */
const repeatedGroup = /(?<!\\)\)(?:[*+]|\{\d*,\d*\})/g;

/**
 * Only lists of durations ("2 years, 3 months and 4 days") repeat a group, up to ten times. Parts
 * of it match the same space or nothing, so that it takes exponential time: `"يوم ".repeat(60)`
 * did not end. Here a list has at most two durations.
 */
function withoutRepetition(parser: Parser): Parser {
  let pattern: RegExp | undefined;
  return {
    pattern(context) {
      if (!pattern) {
        const { source, flags } = parser.pattern(context);
        pattern = new RegExp(source.replace(repeatedGroup, ")?"), flags);
      }
      return pattern;
    },
    extract: (context, match) => parser.extract(context, match),
  };
}

function readerOf({ casual: { parsers, refiners } }: { casual: chrono.Chrono }): DateReader {
  const reader = new chrono.Chrono({ parsers: parsers.map(withoutRepetition), refiners });
  return (text, reference) => reader.parse(text, reference);
}

const english = readerOf(chrono.en);
const japanese = readerOf(chrono.ja);
const chinese = readerOf(chrono.zh);

/** By text search configuration; English for all others. PostgreSQL has none for the last two. */
const readers = new Map([
  ["arabic", readerOf(chrono.ar)],
  ["dutch", readerOf(chrono.nl)],
  ["finnish", readerOf(chrono.fi)],
  ["french", readerOf(chrono.fr)],
  ["german", readerOf(chrono.de)],
  ["indonesian", readerOf(chrono.id)],
  ["italian", readerOf(chrono.it)],
  ["portuguese", readerOf(chrono.pt)],
  ["russian", readerOf(chrono.ru)],
  ["spanish", readerOf(chrono.es)],
  ["swedish", readerOf(chrono.sv)],
  ["ukrainian", readerOf(chrono.uk)],
  ["vietnamese", readerOf(chrono.vi)],
]);

/** Readers of a text in `language`; PostgreSQL has no configuration for Chinese and Japanese. */
export function dateReaders(language: string, text: string): DateReader[] {
  const reader = readers.get(language) ?? english;
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return [reader, japanese];
  return /\p{Script=Han}/u.test(text) ? [reader, chinese] : [reader];
}

/** A reader never sees more: what its patterns take still grows with a power of the length. */
const pieceCharacters = 60;
/** A piece has the dates that begin in its first part, which leaves them room to end in it. */
const ownCharacters = 20;
/**
 * Milliseconds. Five times what the slowest known 1,000 characters take: it stops patterns that a
 * later version of Chrono may bring.
 */
const budgetMs = 25;

/** Dates in `text`, read piece by piece until the budget is used up. */
export function readDates(
  text: string,
  using: readonly DateReader[],
  reference: Date,
): chrono.ParsedResult[] {
  const workedMs = stopwatch();
  const dates: chrono.ParsedResult[] = [];
  let at = 0;
  while (at < text.length && workedMs() < budgetMs) {
    const piece = text.slice(at, at + pieceCharacters);
    const isLast = at + piece.length === text.length;
    const own = isLast ? piece.length : ownCharacters;
    const found = using
      .flatMap((reader) => reader(piece, reference))
      .filter(({ index }) => index < own);
    dates.push(...found);
    const end = Math.max(0, ...found.map(({ index, text: named }) => index + named.length));
    at += isLast ? piece.length : Math.max(end, piece.lastIndexOf(" ", own) + 1) || own;
  }
  return dates;
}

/** Time since now: the less of what passed and of the processor's, so that no load counts. */
function stopwatch(): () => number {
  const [startedAt, usage] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(usage);
    return Math.min(performance.now() - startedAt, (user + system) / 1_000);
  };
}
