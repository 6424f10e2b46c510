import * as chrono from "chrono-node";

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
