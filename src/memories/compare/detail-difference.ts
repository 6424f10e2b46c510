import { plainWords } from "../../text/plain-words.js";
import {
  areExchanged,
  areNamesTurned,
  areTurned,
  countedThingsDiffer,
  isArticle,
  saysOtherwise,
} from "./detail-order.js";
import { type DetailReading, detailVocabulary, push } from "./detail-readings.js";
import { negatedForms, negatingPrefixes, negatingSuffixes } from "./detail-words.js";
import { numberAt, type ReadWord, type StatementWord, statementWords } from "./statement-numbers.js";
import { differInTense } from "./tense-difference.js";

export interface ReadStatement {
  readonly words: readonly ReadWord[];
  readonly negations: number;
}

function readStatement(text: string | ReadStatement): ReadStatement {
  if (typeof text !== "string") return text;
  const words = readWords(text);
  return { words, negations: negationsIn(text, words) };
}

/** Phrases and numbers of several words become one word. */
function readWords(text: string): ReadWord[] {
  const said = statementWords(text);
  const words: ReadWord[] = [];
  for (let at = 0; at < said.length; at++) {
    const word = said[at] as StatementWord;
    const joined = numberAt(said, at) ?? phraseAt(said, at);
    if (joined) words.push({ ...word, plain: joined.plain, readings: joined.readings });
    else words.push({ ...word, readings: inPlace(readingsOf(word.plain), word, words.at(-1)) });
    at += (joined?.length ?? 1) - 1;
  }
  return words;
}

/** Words from `at` on that are one phrase: "dix sept", "at least". */
function phraseAt(
  said: readonly StatementWord[],
  at: number,
): { plain: string; readings: readonly DetailReading[]; length: number } | null {
  const { readings } = detailVocabulary();
  for (const length of [3, 2]) {
    if (at + length > said.length) continue;
    const plain = said
      .slice(at, at + length)
      .map((word) => word.plain)
      .join("_");
    const known = readings.get(plain);
    if (known) return { plain, readings: known, length };
  }
  return null;
}

/** A unit follows a number, and "May" within a sentence is the month. */
function inPlace(
  readings: readonly DetailReading[],
  { capital, initial, kind }: StatementWord,
  before: ReadWord | undefined,
): readonly DetailReading[] {
  if (readings.length === 0) return readings;
  const counted = before?.readings.some((reading) => reading.kind === "number" || reading.kind === "part");
  return readings.map((reading) => {
    if (reading.kind === "unit") return { ...reading, weak: !counted && kind !== "sign" };
    const dated = reading.kind === "day" || reading.kind === "month";
    return dated && capital && !initial ? { ...reading, weak: false } : reading;
  });
}

function readingsOf(plain: string): readonly DetailReading[] {
  const { readings, stems } = detailVocabulary();
  const known = readings.get(plain);
  if (known) return known;
  const begun = stems.get(plain.slice(0, 3))?.filter(([stem]) => plain.startsWith(stem)) ?? [];
  // Of one language the longest beginning counts: "červenci" is July, however June begins.
  return begun.flatMap(([stem, reading]) => {
    const isPart = begun.some(
      ([longer, other]) =>
        longer.length > stem.length && other.kind === reading.kind && other.language === reading.language,
    );
    return isPart ? [] : [reading];
  });
}

/** How often a statement negates; several words that make one negation count once. */
function negationsIn(text: string, words: readonly ReadWord[]): number {
  const { negating, alsoNegating } = detailVocabulary();
  let count = [...plainWords(text.slice(0, 10_000)).matchAll(joinedNegation)].length;
  let besides = false;
  let cancels = false;
  for (const { plain } of words) {
    besides ||= alsoNegating.has(plain);
    const negates = negating.has(plain);
    count += negates ? (cancels ? -1 : 1) : 0;
    cancels = negates && !cancels;
  }
  return besides ? Math.max(1, count) : count;
}

const joinedNegation = new RegExp(negatedForms, "gu");

/**
 * How two statements differ where similarity does not see it. "figures": a number, an ordinal, a date, a unit
 * or a negation. "words": a name, an address, a contrary, an addition, or details that changed places.
 * "order": the same details beside other words (see `saysOtherwise`), exchanged parts or names, or a small
 * word that turns the meaning. Null: none of these.
 *
 * "two" and "2", "Tue" and "Tuesday" are equal, and so are words in another order. Without capitals in
 * either, any replaced word counts.
 */
export function detailDifference(
  first: string | ReadStatement,
  second: string | ReadStatement,
): "figures" | "words" | "order" | null {
  if (first === second) return null;
  const [said, known] = [readStatement(first), readStatement(second)];
  const [one, other] = [said.words, known.words];
  if (said.negations !== known.negations || countedThingsDiffer(one, other)) return "figures";
  const [left, right] = withoutShared(one, other, ({ plain }) => [plain]);
  const isOtherTime = differInTense(left, right, one);
  if (!isOtherTime && left.every(isArticle) && right.every(isArticle)) return differenceInOrder(one, other);
  const unlike = withoutShared(left, right, ({ readings }) =>
    readings.map(({ kind, value }) => `${kind} ${value}`),
  );
  if (differIn(unlike, isFigure) || isNegated(left, right) || isNegated(right, left)) return "figures";
  const unsure = areTurned(left, right) || areNamesTurned(one, other) ? "order" : null;
  return differIn(unlike, (kind) => !isFigure(kind)) ||
    isOtherTime ||
    differInNames(unlike, isUncased(one) && isUncased(other))
    ? "words"
    : unsure;
}

function differenceInOrder(one: readonly ReadWord[], other: readonly ReadWord[]): "words" | "order" | null {
  const otherwise = saysOtherwise(one, other);
  if (otherwise === "swapped") return "words";
  return otherwise === "moved" || areExchanged(one, other) ? "order" : null;
}

const figureKinds: ReadonlySet<string> = new Set(["number", "ordinal", "part", "day", "month", "unit"]);
const isFigure = (kind: DetailReading["kind"]) => figureKinds.has(kind);

/** Whether one has a sure reading, or both have readings of one kind. */
function differIn(
  [one, other]: readonly [readonly ReadWord[], readonly ReadWord[]],
  concerns: (kind: DetailReading["kind"]) => boolean,
): boolean {
  const kindsOf = (words: readonly ReadWord[], sure: boolean) =>
    words.flatMap(({ readings }) =>
      readings.filter(({ kind, weak }) => concerns(kind) && !(sure && weak)).map(({ kind }) => kind),
    );
  if (kindsOf([...one, ...other], true).length > 0) return true;
  const kinds = new Set(kindsOf(one, false));
  return kindsOf(other, false).some((kind) => kinds.has(kind));
}

/** Words that say that something ended: "resigned from Globex", "sold the Fiat". */
const ending: ReadonlySet<string> = new Set(
  plainWords(`quit quits quitting stopped stops resigned resigns left leaves fired dismissed sold sells divorced separated
    cancelled canceled retired abandoned dropped gave_up broke_up split_up gekündigt kündigte aufgehört verkauft verkaufte
    getrennt verlassen quitté démissionné arrêté vendu vendit rompu dejó dejado renunció vendió rompió deixou vendeu
    lasciato smesso venduto gestopt verkocht opgezegd slutade sålde rzucił rzuciła sprzedał sprzedała odszedł odeszła
    уволился уволилась бросил бросила продал продала bıraktı ayrıldı sattı`).split(/\s+/),
);

function tellsEnd({ words }: ReadStatement): boolean {
  return words.some(({ plain }, at) => ending.has(plain) || ending.has(`${plain}_${words[at + 1]?.plain}`));
}

/** Whether only one of the two denies it, puts it in the past or ends it: "no longer works at Globex". */
export function isDeniedBy(first: string, second: string): boolean {
  if (first === second) return false;
  const [one, other] = [readStatement(first), readStatement(second)];
  const [former] = detailVocabulary().readings.get("former") ?? [];
  const isPast = ({ words }: ReadStatement) =>
    words.some(({ readings }) =>
      readings.some(({ kind, value }) => kind === former?.kind && value === former.value),
    );
  return (
    one.negations % 2 !== other.negations % 2 ||
    isPast(one) !== isPast(other) ||
    tellsEnd(one) !== tellsEnd(other)
  );
}

/** Names are capital words within a sentence, or at its beginning in both; without capitals, any word. */
function differInNames(
  [one, other]: readonly [readonly ReadWord[], readonly ReadWord[]],
  nothingCased: boolean,
): boolean {
  const begins = (words: readonly ReadWord[]) => words.some(({ capital, initial }) => capital && initial);
  const bothBegin = begins(one) && begins(other);
  const named = ({ kind, capital, initial }: ReadWord) =>
    kind === "address" || kind === "coined" || (capital && (!initial || bothBegin));
  const uncased = ({ kind, plain }: ReadWord) =>
    kind === "word" && (nothingCased || plain.toUpperCase() === plain);
  return [...one, ...other].some(named) || (one.some(uncased) && other.some(uncased));
}

function isUncased(words: readonly ReadWord[]): boolean {
  return !words.some(({ capital }) => capital);
}

/** The words of each that the other lacks. Words with a key in common cancel each other. */
function withoutShared(
  one: readonly ReadWord[],
  other: readonly ReadWord[],
  keysOf: (word: ReadWord) => readonly string[],
): [ReadWord[], ReadWord[]] {
  const places = new Map<string, number[]>();
  for (const [place, word] of other.entries()) {
    for (const key of keysOf(word)) push(places, key, place);
  }
  const taken = new Set<number>();
  const left = one.filter((word) => {
    for (const key of keysOf(word)) {
      const free = places.get(key);
      let place = free?.shift();
      while (place !== undefined && (taken.has(place) || contradict(word, other[place])))
        place = free?.shift();
      if (place === undefined) continue;
      taken.add(place);
      return false;
    }
    return true;
  });
  return [left, other.filter((_, place) => !taken.has(place))];
}

/** Whether a language gives two words two values: "listopad" is October in Croatian alone. */
function contradict({ plain, readings }: ReadWord, other: ReadWord | undefined): boolean {
  if (other === undefined || plain === other.plain) return false;
  const shared = other.readings.flatMap((its) =>
    readings.flatMap((mine) =>
      its.language !== undefined && its.language === mine.language && its.kind === mine.kind
        ? [{ of: `${its.kind} ${its.language}`, agree: its.value === mine.value }]
        : [],
    ),
  );
  const agreed = new Set(shared.flatMap(({ of, agree }) => (agree ? of : [])));
  return shared.some(({ of }) => !agreed.has(of));
}

const prefixes = negatingPrefixes.split(" ").map((prefix) => plainWords(prefix.replaceAll("_", "")));
const suffixes = negatingSuffixes.split(" ").map((suffix) => plainWords(suffix));

/** Whether a word of one is the contrary of a word of the other by its beginning or end. */
function isNegated(one: readonly ReadWord[], other: readonly ReadWord[]): boolean {
  const plain = new Set(other.map((word) => word.plain));
  return one.some(
    ({ plain: word }) =>
      prefixes.some(
        (part) =>
          word.length >= part.length + 2 && word.startsWith(part) && plain.has(word.slice(part.length)),
      ) ||
      suffixes.some(
        (part) =>
          word.length >= part.length + 3 && word.endsWith(part) && plain.has(word.slice(0, -part.length)),
      ),
  );
}
