import type { Clock } from "../clock.js";
import { MemoryError } from "../errors.js";
import { errorLine } from "../logger.js";
import type { Embedder } from "../models/embedder.js";
import type { Runtime } from "../runtime.js";
import { searchName, searchText } from "../text/search-text.js";
import { questionDates } from "./question-dates.rule.js";
import type { RetrievalOptions, SearchRuntime } from "./retrieval-options.js";
import type { TimeSpan } from "./time-span.rule.js";

/** Characters that are read: more than `searchText` makes of a question. */
const mostCharacters = 50_000;

/** Whether a question names an actor: by any word of the actor's name. */
export function namesActor(terms: string): (actor: string) => boolean {
  const asked = new Set(terms.slice(0, mostCharacters).match(/[\p{L}\p{N}]+/gu));
  return (actor) =>
    searchName(actor)
      .split(/\s+/)
      .some((word) => asked.has(word));
}

export interface Question {
  /** The question as `searchText` prepares it. */
  readonly terms: string;
  /** The times that the question names: what was said or began then is found without a word of it. */
  readonly spans: readonly TimeSpan[];
  readonly names: (actor: string) => boolean;
}

export interface EmbeddedQuestion extends Question {
  /** Null without embeddings. */
  readonly vector: QuestionVector | null;
}

export type QuestionVector = Awaited<ReturnType<Embedder["query"]>>;

/** @param timeZone of the days that the question names. @default retrieval.timeZone */
export function readQuestion(
  runtime: Pick<SearchRuntime, "db" | "clock" | "config">,
  text: string,
  timeZone: string | null | undefined,
): Question {
  const terms = searchText(text);
  const when = { now: timeOf(runtime), timeZone: timeZone ?? runtime.config.retrieval.timeZone };
  return {
    terms,
    spans: questionDates(text, { language: runtime.db.language, ...when }),
    names: namesActor(terms),
  };
}

export function timeOf({ clock }: { readonly clock?: Clock | undefined }): Date {
  return clock?.() ?? new Date();
}

export async function embedQuestion(
  runtime: SearchRuntime,
  { text, timeZone }: { readonly text: string; readonly timeZone: string | null | undefined },
): Promise<EmbeddedQuestion> {
  return { ...readQuestion(runtime, text, timeZone), vector: await questionVector(runtime, text) };
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
