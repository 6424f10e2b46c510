import { z } from "zod";
import type { Clock } from "../clock.js";
import { MemoryError } from "../errors.js";
import { errorLine } from "../logger.js";
import type { Embedder } from "../models/embedder.js";
import type { Runtime } from "../runtime.js";
import { searchName, searchText } from "../text/search-text.js";
import { questionDates } from "./question-dates.rule.js";
import type { RetrievalOptions, SearchRuntime } from "./retrieval-options.js";
import { type TimeSpan, zoneClock } from "./time-span.rule.js";

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

export const timeZoneField = z.string().refine(isTimeZone, {
  error: ({ input }) => `no time zone: ${JSON.stringify(input)}. Pass a name such as "Europe/Lisbon"`,
});

function isTimeZone(name: string): boolean {
  try {
    return Boolean(zoneClock(name));
  } catch {
    return false;
  }
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

/** @param timeZone of the days that the question names. @default UTC */
export function readQuestion(
  text: string,
  language: string,
  now: Date,
  timeZone: string | null | undefined,
): Question {
  const terms = searchText(text);
  return {
    terms,
    spans: questionDates(text, { language, now, timeZone: timeZone ?? "UTC" }),
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
  return {
    ...readQuestion(text, runtime.db.language, timeOf(runtime), timeZone),
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
