import type { Clock } from "../clock.js";
import { MemoryError } from "../errors.js";
import { errorLine } from "../logger.js";
import type { Embedder } from "../models/embedder.js";
import type { Runtime } from "../runtime.js";
import { searchName, searchText } from "../text/search-text.js";
import { headOf } from "../text/storable-text.js";
import { tellingWords } from "./broad-question.rule.js";
import { questionDates } from "./question-dates.rule.js";
import { isQuestion } from "./relative-times.rule.js";
import type { RetrievalOptions, SearchRuntime } from "./retrieval-options.js";
import { namedSpans, type TimeSpan } from "./time-span.rule.js";

/** Characters that are read: more than `searchText` makes of a question. */
const mostCharacters = 50_000;

/** Whether a question names an actor: by any word of the actor's name. */
export function namesActor(terms: string, language: string): (actor: string) => boolean {
  const asked = new Set(terms.slice(0, mostCharacters).match(/[\p{L}\p{N}]+/gu));
  return (actor) =>
    searchName(actor, language)
      .split(/\s+/)
      .some((word) => asked.has(word));
}

export interface Question {
  /** The question as `searchText` prepares it. */
  readonly terms: string;
  /** The same without the words that one asks for everything with; empty where it has no others. */
  readonly telling: string;
  /** The times that the question names: what was said or began then is found without a word of it. */
  readonly spans: readonly TimeSpan[];
  readonly names: (actor: string) => boolean;
}

export interface EmbeddedQuestion extends Question {
  /** Null without embeddings. */
  readonly vector: QuestionVector | null;
}

export type QuestionVector = Awaited<ReturnType<Embedder["query"]>>;

export function readQuestion(text: string, language: string, now: Date): Question {
  const terms = searchText(text, language);
  return {
    terms,
    telling: searchText(tellingWords(headOf(text, mostCharacters), language), language),
    spans: namedSpans(questionDates(text, now), isQuestion(text) ? now : null),
    names: namesActor(terms, language),
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
