import { retrievalWeights as weights } from "../retrieval-options.js";
import { mostCorrected, mostCounted, mostTerms } from "../search-limits.rule.js";
import type { AskedTerm } from "../word-weights.rule.js";

/** The words of a question, as the index has them. */
export interface AskedWords {
  /** Its lexemes, in their order. */
  readonly lexemes: readonly string[];
  /** Those of words that name a speaker. */
  readonly named: ReadonlySet<string>;
  /** Its words that may be misspelt. */
  readonly correctable: readonly string[];
}

/** The texts of an owner that a question's words are looked up in. */
export interface CountedTexts {
  /** How many memories have the lexeme. */
  readonly memories: (lexeme: string) => number;
  /** How many messages. */
  readonly messages: (lexeme: string) => number;
}

/** What a word may be in the index: its own lexemes, and those of all words one edit away. */
export interface WordForms {
  readonly lexemes: readonly string[];
  readonly near: readonly string[];
}

/**
 * The terms that are searched for in the texts of `owners`: what the CTEs of `questionTerms` find.
 *
 * @param forms of the words that may be misspelt, where most of the question is unknown (see `unknownTerms`).
 */
export function askedTerms(
  asked: AskedWords,
  owners: readonly CountedTexts[],
  forms: ReadonlyMap<string, WordForms>,
): AskedTerm[] {
  const telling = tellingTerms(asked, owners);
  const corrected = correctedTerms(telling, asked, owners, forms);
  const replaced = new Set(corrected.map(({ term }) => term));
  const known = new Set(telling.map(({ lexeme }) => lexeme));
  const written = telling
    .filter(({ lexeme }) => !replaced.has(lexeme))
    .map(({ n, lexeme }) => ({
      n,
      term: lexeme,
      lexeme,
      weight: asked.named.has(lexeme) ? weights.name : 1,
    }));
  const readings = new Map<string, string>();
  for (const { term, lexeme } of corrected) {
    const least = readings.get(lexeme);
    if (!known.has(lexeme) && (least === undefined || term < least)) readings.set(lexeme, term);
  }
  const meant = [...readings].map(([lexeme, term], place) => ({
    ...{ n: -1 - place, term, lexeme, weight: weights.correction },
  }));
  return [...written, ...meant];
}

/**
 * The lexemes that no text has, where those are most of what is asked: then the forms of `correctable` are to be looked up.
 * Else none.
 */
export function unknownTerms(asked: AskedWords, owners: readonly CountedTexts[]): ReadonlySet<string> {
  return mostlyUnknown(tellingTerms(asked, owners), asked, owners);
}

interface TellingTerm {
  /** Terms are numbered from 1 on. */
  readonly n: number;
  readonly lexeme: string;
}

/** All terms; of a long question the rarest. */
function tellingTerms({ lexemes }: AskedWords, owners: readonly CountedTexts[]): TellingTerm[] {
  const terms = lexemes.map((lexeme, place) => ({ n: place + 1, lexeme }));
  if (terms.length <= mostTerms) return terms;
  return terms
    .map((term) => ({ ...term, texts: countedTexts(term.lexeme, owners) }))
    .sort((first, second) => {
      const [none, others] = [Number(first.texts === 0), Number(second.texts === 0)];
      return none - others || first.texts - second.texts || first.n - second.n;
    })
    .slice(0, mostTerms);
}

function countedTexts(lexeme: string, owners: readonly CountedTexts[]): number {
  const counted = (count: (owner: CountedTexts) => number) =>
    Math.min(
      mostCounted,
      owners.reduce((sum, owner) => sum + count(owner), 0),
    );
  return counted(({ memories }) => memories(lexeme)) + counted(({ messages }) => messages(lexeme));
}

function isKnown(lexeme: string, owners: readonly CountedTexts[]): boolean {
  return owners.some(({ memories, messages }) => memories(lexeme) > 0 || messages(lexeme) > 0);
}

function mostlyUnknown(
  telling: readonly TellingTerm[],
  { named }: AskedWords,
  owners: readonly CountedTexts[],
): ReadonlySet<string> {
  const unnamed = telling.filter(({ lexeme }) => !named.has(lexeme));
  const unknown = unnamed.filter(({ lexeme }) => !isKnown(lexeme, owners));
  return new Set(2 * unknown.length >= unnamed.length ? unknown.map(({ lexeme }) => lexeme) : []);
}

/** What may have been meant by unknown terms, of what some text has. */
function correctedTerms(
  telling: readonly TellingTerm[],
  asked: AskedWords,
  owners: readonly CountedTexts[],
  forms: ReadonlyMap<string, WordForms>,
): { readonly term: string; readonly lexeme: string }[] {
  const unknown = mostlyUnknown(telling, asked, owners);
  return asked.correctable
    .flatMap((word) => {
      const { lexemes = [], near = [] } = forms.get(word) ?? {};
      const meant = near.filter((lexeme) => lexeme[0] === word[0]);
      return lexemes.filter((term) => unknown.has(term)).map((term) => ({ term, near: meant }));
    })
    .slice(0, mostCorrected)
    .flatMap(({ term, near }) =>
      near.filter((lexeme) => isKnown(lexeme, owners)).map((lexeme) => ({ term, lexeme })),
    );
}
