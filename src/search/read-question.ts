import type { Clock } from "../clock.js";
import { MemoryError } from "../errors.js";
import { errorLine } from "../logger.js";
import type { EmbeddingSpace } from "../models/embedding-space.js";
import { searchName, searchText } from "../text/search-text.js";
import { headOf } from "../text/storable-text.js";
import { tellingWords } from "./broad-question.rule.js";
import { answersWhen, questionDates } from "./question-dates.rule.js";
import { isQuestion } from "./relative-times.rule.js";
import type { SearchRuntime } from "./retrieval-options.js";
import { type NamedTime, namedSpans, type TimeSpan } from "./time-span.rule.js";

/** What a question names besides its words. */
export interface QuestionWords {
  /** Its words in lower case, once each: a speaker's name may be among them. */
  readonly words: readonly string[];
  /** Those of a length worth correcting when the index does not know them. */
  readonly correctable: readonly string[];
}

/** Shorter words have too many neighbours to be corrected. */
const shortestCorrectable = 5;

/**
 * Longer ones are no words: "uncharacteristically" has 20 letters. A word of n letters has 54 n neighbours of n letters,
 * which are made and looked up all: 24 letters are 30 kB of them, 500 are 13 MB.
 */
const longestCorrectable = 24;

const correctable = new RegExp(`^[a-z]{${shortestCorrectable},${longestCorrectable}}$`);

/**
 * Words that people ask with: a store that does not know them does not make them misspelt, and looking for other
 * spellings of a word costs more than all the rest of a search.
 */
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

/** A question as every search reads it. */
export interface Question extends QuestionWords {
  /** The question as `searchText` prepares it. */
  readonly terms: string;
  /** The same without the words that one asks for everything with; empty where it has no others. */
  readonly telling: string;
  readonly dates: readonly NamedTime[];
  /** The times that the question names: what was said or began then is found without a word of it. */
  readonly spans: readonly TimeSpan[];
  /** Whether the question names an actor. */
  readonly names: (actor: string) => boolean;
  /** Whether a text says a time, if the question asks for one. */
  readonly when: (text: string) => boolean;
}

/** A question with its vector. */
export interface EmbeddedQuestion extends Question {
  /** Null without embeddings. */
  readonly vector: QuestionVector | null;
}

/** A question in an embedding space. */
interface QuestionVector {
  readonly space: EmbeddingSpace;
  /** In pgvector's text form. */
  readonly value: string;
}

/** `text`, asked `now`, read for a search in `language`, a text search configuration. */
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

/** The time that a question is asked at: by the caller's clock, or the process's. */
export function timeOf({ clock }: { readonly clock?: Clock | undefined }): Date {
  return clock?.() ?? new Date();
}

/** The same with its vector, where there is one. */
export async function embedQuestion(runtime: SearchRuntime, text: string): Promise<EmbeddedQuestion> {
  return {
    ...readQuestion(text, runtime.db.language, timeOf(runtime)),
    vector: await questionVector(runtime, text),
  };
}

/** The vector of a question. Null without one, with which a search goes on: by words alone is better than no answer. */
export async function questionVector(
  { embedder, logger, config: { retrieval } }: SearchRuntime,
  text: string,
): Promise<QuestionVector | null> {
  if (!embedder || text.trim() === "") return null;
  try {
    const { space, vector } = await embedder.query(text, retrieval.embedTimeoutMs);
    return { space, value: vector };
  } catch (error) {
    if (MemoryError.is(error) && error.code !== "EMBEDDING_FAILED") throw error;
    logger.warn(`searching without vectors: ${errorLine(error)}`);
    return null;
  }
}
