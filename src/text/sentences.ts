import { hasWords } from "./storable-text.js";

const segmenter = new Intl.Segmenter("und", { granularity: "sentence" });

/** What ends with a full stop and no sentence: titles, abbreviations, initials, days ("am 3. Mai"). */
const abbreviation =
  /(?:^|[\s("„“«/])(?:[A-ZÀ-ÞА-ЯΑ-Ω]|\d{1,3}|dr|mrs?|ms|prof|st|jr|sr|sra|srta|dra|mme|mlle|vs|etc|no|nr|nos?|ca|approx|inc|ltd|corp|co|bzw|usw|evtl|ggf|inkl|dept|tel|min|max|vol|pp?|fig|ed|ave|blvd|rd|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[a-zà-þ]{1,2}(?:\.\s?[a-zà-þ]{1,3})+|т|г|ул|др|им)\.\s*$/i;

/** What ends a sentence, with the quotation marks and brackets that may follow. */
const ending = /[.!?…。．！？｡।॥؟۔]["'”’»)\]」』]*\s*$/u;

/**
 * The sentences of `text`, which together are the text. Where it is not sure that one ends (after an abbreviation, within
 * quotation marks or brackets, at a line's end) it goes on.
 */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  let begun = "";
  const segments = Array.from(segmenter.segment(text), ({ segment }) => segment);
  for (const [index, segment] of segments.entries()) {
    begun += segment;
    const goesOn = /^\p{Ll}/u.test(segments[index + 1] ?? "");
    if (goesOn || !ending.test(segment) || abbreviation.test(begun) || isOpen(begun)) continue;
    sentences.push(begun);
    begun = "";
  }
  if (hasWords(begun) || sentences.length === 0) return [...sentences, begun];
  return [...sentences.slice(0, -1), `${sentences.at(-1)}${begun}`];
}

const pairs = ["“”", "«»", "()", "[]", "「」", "『』"] as const;

function isOpen(text: string): boolean {
  const count = (mark: string) => text.split(mark).length - 1;
  return count('"') % 2 === 1 || pairs.some(([open = "", close = ""]) => count(open) > count(close));
}
