import { type DetailReading, detailVocabulary } from "./detail-readings.js";
import { negatedForms } from "./detail-words.js";
import { plainWords } from "./plain-words.js";
import { numberAt } from "./statement-numbers.js";
import { type StatementWord, statementWords } from "./statement-words.js";

/** A word of a statement, and what it may mean. */
export interface ReadWord extends StatementWord {
  readonly readings: readonly DetailReading[];
}

/** A statement as it is compared, for one that is compared with many. */
export interface Statement {
  readonly words: readonly ReadWord[];
  readonly negations: number;
}

/** `text`, read. */
export function statementOf(text: string | Statement): Statement {
  if (typeof text !== "string") return text;
  const words = readWords(text);
  return { words, negations: negationsIn(text, words) };
}

const nothing: readonly DetailReading[] = [];

/** The words of `text`: phrases and numbers of several words are one. */
function readWords(text: string): ReadWord[] {
  const said = statementWords(text);
  const words: ReadWord[] = [];
  for (let at = 0; at < said.length; at++) {
    const word = said[at] as StatementWord;
    const next = said[at + 1];
    const numbered = numberAt(said, at);
    if (numbered) {
      words.push({ ...word, plain: numbered.plain, readings: numbered.readings });
      at += numbered.length - 1;
    } else {
      const phrase = next && `${word.plain}_${next.plain}`;
      const known = phrase === undefined ? nothing : readingsOf(phrase);
      if (phrase !== undefined && known.length > 0) {
        words.push({ ...word, plain: phrase, readings: known });
        at++;
      } else words.push({ ...word, readings: inPlace(readingsOf(word.plain), word, words.at(-1)) });
    }
  }
  return words;
}

/** `readings` of a word where it stands: a unit follows a number, and "May" within a sentence is the month. */
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
  const begun = stems.get(plain.slice(0, 3));
  return begun?.flatMap(([stem, reading]) => (plain.startsWith(stem) ? [reading] : [])) ?? nothing;
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
