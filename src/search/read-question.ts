import { MemoryError } from "../errors.js";
import { errorLine } from "../logger.js";
import type { AsOfTimes } from "../memories/audit/as-of.js";
import type { Embedder } from "../models/embedder.js";
import type { Runtime } from "../runtime.js";
import { askingSentences } from "../text/asks-only.js";
import { plainName, plainText, searchText } from "../text/search-text.js";
import { contentWords } from "../text/shared-words.js";
import { headOf } from "../text/storable-text.js";
import { questionDates } from "./question-dates.rule.js";
import type { RetrievalOptions, SearchRuntime } from "./retrieval-options.js";

/** Further characters of a question hardly change what its rarest words are. */
const maxAskedCharacters = 20_000;

/** Tests whether a question contains any word of an actor's name. */
export function namesActor(question: string): (actor: string) => boolean {
  const words = new Set(plainText(question).match(/[\p{L}\p{N}]+/gu));
  return (actor) =>
    plainName(actor)
      .split(/\s+/)
      .some((word) => words.has(word));
}

export type Question = ReturnType<typeof readQuestion>;

/** Null `vector`: without embeddings. */
export type EmbeddedQuestion = Question & { readonly vector: QuestionVector | null };

export type QuestionVector = Awaited<ReturnType<Embedder["query"]>>;

/** The words of a question; what stands beside the sentences that ask is labelled as such. */
export function questionTerms(text: string): string {
  const asked = headOf(text, maxAskedCharacters);
  const { asking, aside } = askingSentences(asked);
  if (asking === "" || aside === "") return searchText(asked);
  return searchText(asking) + searchText(aside, "~");
}

/** LoCoMo's questions have at most 18, with "what" and "did". */
const wordsOfQuestion = 16;
/** Less lets chit-chat find something in every memory. */
const minFloorFactor = 0.4;

/** 1 for a text of up to `wordsOfQuestion` words, half for twice as many. */
function floorFactorFor(text: string): number {
  const share = wordsOfQuestion / Math.max(1, contentWords(text).size);
  return Math.min(1, Math.max(minFloorFactor, share));
}

/**
 * @param zone time zone of the days that the question names. @default retrieval.timeZone
 * @param now from when days are counted. @default the clock's time
 */
export function readQuestion(
  { db, clock, config }: Pick<SearchRuntime, "db" | "clock" | "config">,
  given: string,
  zone: string | null | undefined,
  now = clock(),
) {
  const text = headOf(given, maxAskedCharacters);
  const timeZone = zone ?? config.retrieval.timeZone;
  return {
    text,
    /** Prepared by `searchText`. */
    terms: questionTerms(text),
    /** Times that the question names: memories of that time need no common word. */
    spans: questionDates(given, { language: db.language, timeZone, now }),
    /** Whether the question names somebody. */
    isNamed: namesActor(text),
    /** Factor of every floor, 0.4 to 1: only some words of a long question say what is asked. */
    floorFactor: floorFactorFor(text),
  };
}

interface AskedQuestion {
  readonly text: string;
  readonly timeZone: string;
  /** Null: asked now. */
  readonly asOf: AsOfTimes | null;
}

/** The question as it was asked at `asOf`: "yesterday" is the day before. */
export async function embedQuestion(
  runtime: SearchRuntime,
  { text, timeZone, asOf }: AskedQuestion,
): Promise<EmbeddedQuestion> {
  const question = readQuestion(runtime, text, timeZone, asOf?.knownAt);
  return { ...question, vector: await questionVector(runtime, text) };
}

/** Null without embeddings, or if embedding fails: a lexical search is better than no answer. */
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
