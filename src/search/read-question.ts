import { MemoryError } from "../errors.js";
import { errorLine } from "../logger.js";
import type { EmbeddingSpace } from "../models/embedding-space.js";
import { searchText } from "../text/search-text.js";
import { answersWhen, type NamedDate, namedSpans, questionDates, type TimeSpan } from "./question-dates.js";
import { namesActor, type QuestionWords, questionWords } from "./question-words.js";
import type { SearchRuntime } from "./retrieval-options.js";

/** A question as every search reads it. */
export interface Question extends QuestionWords {
  /** The question as `searchText` prepares it. */
  readonly terms: string;
  readonly dates: readonly NamedDate[];
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
  /** In the binary form of pgvector's `halfvec`: reading its text would take the server as long as a small search. */
  readonly value: Buffer;
}

/** `text` read for a search in `language`, a text search configuration. */
export function readQuestion(text: string, language: string): Question {
  const terms = searchText(text, language);
  const asked = questionWords(terms);
  const dates = questionDates(text);
  return {
    ...asked,
    terms,
    dates,
    spans: namedSpans(dates),
    names: namesActor(asked, language),
    when: answersWhen(text),
  };
}

/** The same with its vector. Without one the search goes on: by words alone is better than no answer. */
export async function embedQuestion(runtime: SearchRuntime, text: string): Promise<EmbeddedQuestion> {
  return { ...readQuestion(text, runtime.db.language), vector: await vectorOf(runtime, text) };
}

async function vectorOf(
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
