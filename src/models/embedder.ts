import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { toSql } from "pgvector";
import { MemoryError } from "../errors.js";
import { errorKind } from "../logger.js";
import type { Connection } from "../postgres/connection.js";
import { type EmbeddingSpace, ensureEmbeddingSpace, saveUnrelatedSimilarity } from "./embedding-space.js";
import { inTime } from "./model-answer.js";
import { measureUnrelated, type UnrelatedSimilarity } from "./unrelated-similarity.rule.js";

/** Questions as users ask them. None has to do with any of the statements, which are worded as memories are. */
const questions = [
  "Which airline should I book?",
  "How is the marathon training going?",
  "Can you find the bug in this code?",
  "What did the dentist say?",
  "What should I cook tonight?",
  "When is the rent due?",
  "Do you remember my shoe size?",
  "Tell me again who won the election.",
];
const statements = [
  "The user's grandmother was born in 1931.",
  "The user collects old stamps.",
  "The user paints birds in watercolour.",
  "The user is afraid of spiders.",
  "The user's brother works as a carpenter.",
  "The user is learning Portuguese.",
  "The user prefers films in black and white.",
  "The user keeps bees behind the house.",
  "The user's neighbour plays chess on Sundays.",
  "The user wears glasses for reading.",
  "The team's meeting was moved to the smaller room.",
  "The customer's printer is broken.",
];

/** How alike `embeddings` find texts that have nothing to do with each other; null when their answers do not tell. */
async function measureSpace(embeddings: EmbeddingsInterface): Promise<UnrelatedSimilarity | null> {
  const [asked, stated] = await Promise.all([
    Promise.all(questions.map(async (question) => embeddings.embedQuery(question))),
    embeddings.embedDocuments(statements),
  ]);
  return stated.length === statements.length ? measureUnrelated(asked, stated) : null;
}

/** Texts that have the deadline of one call. Local models take some 50 ms each, and providers take hundreds at once. */
const textsInTime = 100;

/** The deadline of `count` texts: that of one call, and as long again for each further hundred. */
function deadlineOf(count: number, timeoutMs: number): number {
  return timeoutMs * Math.max(1, Math.ceil(count / textsInTime));
}

/** Texts as vectors of one space. */
export interface Embedded {
  readonly space: EmbeddingSpace;
  /** Of length 1, in the order of the texts, in pgvector's text form. */
  readonly vectors: readonly string[];
}

/** A question as a vector of a space. */
interface EmbeddedText {
  readonly space: EmbeddingSpace;
  /** Of length 1, in pgvector's text form. */
  readonly vector: string;
}

/** Makes vectors; holds no connection while the model works. */
export interface Embedder {
  /** @throws MemoryError `EMBEDDING_FAILED`, also when they take longer than the embedder's deadline; `DIMENSION_MISMATCH` */
  documents(texts: readonly string[]): Promise<Embedded>;
  /**
   * Vectors that the same model made before, as vectors of its space; undefined for none.
   *
   * @throws MemoryError `EMBEDDING_FAILED` for what is no vector, `DIMENSION_MISMATCH`
   */
  given(vectors: readonly number[][]): Promise<Embedded | undefined>;
  /**
   * The first question to a space has it measured (see `measureSpace`), as far as that is done within `timeoutMs`.
   *
   * @throws MemoryError `EMBEDDING_FAILED`, also when it takes longer than `timeoutMs`.
   */
  query(text: string, timeoutMs: number): Promise<EmbeddedText>;
}

/** Between two tries to measure a space: where one failed, the next question may fail as well. */
const measureAgainAfterMs = 60_000;

/** The space that vectors of one model go to. */
interface KnownSpace {
  /** The space of `vectors`, which are looked at first. @throws MemoryError `EMBEDDING_FAILED`, `DIMENSION_MISMATCH` */
  of(vectors: readonly number[][]): Promise<EmbeddingSpace>;
  /** `space` with what unrelated texts have in it, as far as that is known within `timeoutMs`. */
  measured(space: EmbeddingSpace, timeoutMs: number): Promise<EmbeddingSpace>;
}

function knownSpace(
  db: Connection,
  embeddings: EmbeddingsInterface,
  { name, timeoutMs: measuringMs }: { readonly name: string; readonly timeoutMs: number },
): KnownSpace {
  let known: Promise<EmbeddingSpace> | undefined;
  let measuring: Promise<void> | undefined;
  let measuredAtMs = Number.NEGATIVE_INFINITY;

  const spaceFor = async (dimensions: number): Promise<EmbeddingSpace> => {
    known ??= ensureEmbeddingSpace(db, { name, dimensions }).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    const space = await known;
    if (space.dimensions === dimensions) return space;
    throw new MemoryError(
      "DIMENSION_MISMATCH",
      `The embeddings gave a vector of ${dimensions} dimensions; space "${name}" has ${space.dimensions}.`,
    );
  };
  /** Measures `space` once. Whatever goes wrong, searches go on with what is assumed of spaces. */
  const measure = async (space: EmbeddingSpace): Promise<void> => {
    try {
      const unrelated = await inTime(measuringMs, measureSpace(embeddings));
      if (unrelated === null) return;
      known = Promise.resolve({ ...space, unrelated });
      await saveUnrelatedSimilarity(db, space, unrelated);
    } catch {
      measuring = undefined;
    }
  };
  return {
    async of(vectors) {
      const wrong = vectors.find((vector) => vector.length === 0 || !vector.every(Number.isFinite));
      if (wrong)
        throw new MemoryError("EMBEDDING_FAILED", "The embeddings gave an empty vector or one with NaN.");
      const [first, ...others] = new Set(vectors.map((vector) => vector.length));
      const space = await spaceFor(first as number);
      for (const dimensions of others) await spaceFor(dimensions);
      return space;
    },
    async measured(space, timeoutMs) {
      if (space.unrelated !== null) return space;
      if (measuring === undefined && performance.now() - measuredAtMs > measureAgainAfterMs) {
        measuredAtMs = performance.now();
        measuring = measure(space);
      }
      await inTime(timeoutMs, measuring ?? Promise.resolve()).catch(() => {});
      return (await known) ?? space;
    },
  };
}

/** How long an embedder may take. */
export interface EmbedderOptions {
  /** Longest wait for the vectors of up to a hundred documents; each further hundred may take as long again. */
  readonly timeoutMs: number;
}

/** An embedder on `embeddings`. */
export function createEmbedder(
  db: Connection,
  embeddings: EmbeddingsInterface,
  { timeoutMs }: EmbedderOptions,
): Embedder {
  const space = knownSpace(db, embeddings, { name: modelName(embeddings), timeoutMs });
  const failed = (cause: unknown, advice = ""): MemoryError => {
    if (MemoryError.is(cause) && cause.code !== "MODEL_FAILED") return cause;
    const kind = MemoryError.is(cause) ? `${cause.message}${advice}` : errorKind(cause);
    return new MemoryError("EMBEDDING_FAILED", `The embeddings failed: ${kind}`, { cause });
  };
  const embedDocuments = async (texts: readonly string[]) => embeddings.embedDocuments([...texts]);
  return {
    async documents(texts) {
      try {
        const vectors = await inTime(deadlineOf(texts.length, timeoutMs), embedDocuments(texts));
        if (vectors.length === texts.length) {
          return { space: await space.of(vectors), vectors: vectors.map((vector) => toSql(unit(vector))) };
        }
      } catch (cause) {
        throw failed(cause, " If they take longer, raise upkeep.timeoutMs in the config.");
      }
      throw new MemoryError("EMBEDDING_FAILED", `The embeddings did not give ${texts.length} vectors.`);
    },
    async given(vectors) {
      if (vectors.length === 0) return undefined;
      // The space's dimensions are the model's, and not those of whatever is given first.
      const { space: known } = await this.documents(["dimensions"]);
      await space.of(vectors);
      return { space: known, vectors: vectors.map((vector) => toSql(unit(vector))) };
    },
    async query(text, timeoutMs) {
      const endMs = performance.now() + timeoutMs;
      try {
        const vector = await inTime(timeoutMs, embeddings.embedQuery(text));
        const found = await space.of([vector]);
        const measured =
          found.unrelated === null
            ? await space.measured(found, Math.max(0, endMs - performance.now()))
            : found;
        return { space: measured, vector: toSql(unit(vector)) };
      } catch (cause) {
        throw failed(cause);
      }
    },
  };
}

/** At length 1, as the store compares them; a vector of zeros, which is like nothing, stays. */
function unit(vector: readonly number[]): number[] {
  const length = lengthOf(vector) || 1;
  return vector.map((value) => value / length);
}

/** Squares of the numbers that models give fit into one; of others the length is found without. */
function lengthOf(vector: readonly number[]): number {
  let squares = 0;
  for (const value of vector) squares += value * value;
  return squares > 1e-200 && squares < 1e200 ? Math.sqrt(squares) : Math.hypot(...vector);
}

function modelName(embeddings: EmbeddingsInterface): string {
  const named = embeddings as { model?: unknown; modelName?: unknown };
  const name = named.model ?? named.modelName;
  return typeof name === "string" && name !== "" ? name : embeddings.constructor.name;
}
