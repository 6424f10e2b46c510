import type { Clock } from "../clock.js";
import { MemoryError } from "../errors.js";
import { errorLine } from "../logger.js";
import type { Embedder } from "../models/embedder.js";
import type { Runtime } from "../runtime.js";
import { searchName, searchText } from "../text/search-text.js";
import { headOf } from "../text/storable-text.js";
import { tellingWords } from "./broad-question.rule.js";
import { answersWhen, questionDates } from "./question-dates.rule.js";
import { isQuestion } from "./relative-times.rule.js";
import type { RetrievalOptions, SearchRuntime } from "./retrieval-options.js";
import { type NamedTime, namedSpans, type TimeSpan } from "./time-span.rule.js";

export interface QuestionWords {
  /** Its words in lower case, once each: a speaker's name may be among them. */
  readonly words: readonly string[];
  /** Those of a length worth correcting when the index does not know them. */
  readonly correctable: readonly string[];
}

/** Shorter words have too many neighbours to be corrected. */
const shortestCorrectable = 5;

/** "uncharacteristically" has 20 letters. Of n letters there are 54 n edits: 30 kB for 24 letters, 13 MB for 500. */
const longestCorrectable = 24;

const correctable = new RegExp(`^[a-z]{${shortestCorrectable},${longestCorrectable}}$`);

/** Never corrected: looking for other spellings costs more than the rest of a search. */
const askedWith = new Set(
  (
    "about again anything anyone ask asked been could ever everything find found gave give happen happened happens have " +
    "help helped knew know known like liked list look looked made make mean means meant mention mentioned need please " +
    "recall remember remembered remind reminded said say show something talk talked tell thing things think thought told " +
    "want wanted went what when where which would your"
  ).split(" "),
);

/** Characters that are read: more than `searchText` makes of a question. */
const mostCharacters = 50_000;

/** The words of `text` (as `searchText` prepared it). */
export function questionWords(text: string): QuestionWords {
  const words = [...new Set(text.slice(0, mostCharacters).match(/[\p{L}\p{N}]+/gu) ?? [])].slice(0, 64);
  const corrected = words.filter((word) => correctable.test(word) && !askedWith.has(word));
  return { words, correctable: corrected.slice(0, 16) };
}

/** Whether a question names an actor: by any word of the actor's name. */
export function namesActor({ words }: QuestionWords, language: string): (actor: string) => boolean {
  const asked = new Set(words);
  return (actor) =>
    searchName(actor, language)
      .split(/\s+/)
      .some((word) => asked.has(word));
}

export interface Question extends QuestionWords {
  /** The question as `searchText` prepares it. */
  readonly terms: string;
  /** The same without the words that one asks for everything with; empty where it has no others. */
  readonly telling: string;
  readonly dates: readonly NamedTime[];
  /** The times that the question names: what was said or began then is found without a word of it. */
  readonly spans: readonly TimeSpan[];
  readonly names: (actor: string) => boolean;
  /** Whether a text says a time, if the question asks for one. */
  readonly when: (text: string) => boolean;
}

export interface EmbeddedQuestion extends Question {
  /** Null without embeddings. */
  readonly vector: QuestionVector | null;
}

export type QuestionVector = Awaited<ReturnType<Embedder["query"]>>;

export function readQuestion(text: string, language: string, now: Date): Question {
  const terms = searchText(text, language);
  const asked = questionWords(terms);
  const dates = questionDates(text, now);
  return {
    ...asked,
    terms,
    telling: searchText(tellingWords(headOf(text, mostCharacters), language), language),
    dates,
    spans: namedSpans(dates, isQuestion(text) ? now : null),
    names: namesActor(asked, language),
    when: answersWhen(text),
  };
}

export function timeOf({ clock }: { readonly clock?: Clock | undefined }): Date {
  return clock?.() ?? new Date();
}

export async function embedQuestion(runtime: SearchRuntime, text: string): Promise<EmbeddedQuestion> {
  return {
    ...readQuestion(text, runtime.db.language, timeOf(runtime)),
    vector: await questionVector(runtime, text),
  };
}

/** Null without embeddings, or where they fail: words alone are better than no answer. */
export async function questionVector(
  { embedder, logger, config: { retrieval } }: Runtime<{ readonly retrieval: RetrievalOptions }>,
  text: string,
): Promise<QuestionVector | null> {
  if (!embedder || text.trim() === "") return null;
  try {
    return await embedder.query(text, retrieval.embedTimeoutMs);
  } catch (error) {
    if (MemoryError.is(error) && error.code !== "EMBEDDING_FAILED") throw error;
    logger.warn(`searching without vectors: ${errorLine(error)}`);
    return null;
  }
}
