import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { toSql } from "pgvector";
import { MemoryError } from "../errors.js";
import { errorKind } from "../logger.js";
import type { Connection } from "../postgres/connection.js";
import {
  type EmbeddingSpace,
  ensureEmbeddingSpace,
  saveUnrelatedSimilarity,
} from "./embedding-space.js";
import { answerInTime } from "./model-answer.js";
import { measureUnrelated, type UnrelatedSimilarity } from "./unrelated-similarity.rule.js";

/** Users' questions and memory-like statements, all unrelated. */
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

async function measureSpace(embeddings: EmbeddingsInterface): Promise<UnrelatedSimilarity | null> {
  const [asked, stated] = await Promise.all([
    Promise.all(questions.map(async (question) => embeddings.embedQuery(question))),
    embeddings.embedDocuments(statements),
  ]);
  return stated.length === statements.length ? measureUnrelated(asked, stated) : null;
}

/** Texts per deadline. Local models take some 50 ms each. */
const textsInTime = 100;

export interface Embedded {
  readonly space: EmbeddingSpace;
  readonly units: readonly (readonly number[])[];
  readonly vectors: readonly string[];
}

export interface Embedder {
  /**
   * @throws MemoryError `EMBEDDING_FAILED`, also after the embedder's deadline;
   * `DIMENSION_MISMATCH`
   */
  documents(texts: readonly string[]): Promise<Embedded>;
  /** Converts vectors made earlier by the same model; undefined for none. */
  given(vectors: readonly number[][]): Promise<Embedded | undefined>;
  /**
   * The first call measures the space, within `timeoutMs`.
   * @throws MemoryError `EMBEDDING_FAILED`
   */
  query(
    text: string,
    timeoutMs: number,
  ): Promise<{ readonly space: EmbeddingSpace; readonly vector: string }>;
}

const measureAgainAfterMs = 60_000;

function spaceCache(db: Connection, embeddings: EmbeddingsInterface, measuringMs: number) {
  const name = modelName(embeddings);
  let cached: Promise<EmbeddingSpace> | undefined;
  let measuring: Promise<void> | undefined;
  let measuredAtMs = Number.NEGATIVE_INFINITY;

  const spaceFor = async (dimensions: number): Promise<EmbeddingSpace> => {
    cached ??= ensureEmbeddingSpace(db, { name, dimensions }).catch((error: unknown) => {
      cached = undefined;
      throw error;
    });
    const space = await cached;
    if (space.dimensions === dimensions) return space;
    throw new MemoryError(
      "DIMENSION_MISMATCH",
      `The embeddings gave a vector of ${dimensions} dimensions; space "${name}" has ${space.dimensions}. ` +
        "Give a model with other vectors another name, then call reembed().",
    );
  };
  /** Ignores errors: searches use the assumed similarity. */
  const measure = async (space: EmbeddingSpace): Promise<void> => {
    try {
      const unrelated = await answerInTime(measuringMs, measureSpace(embeddings));
      if (unrelated === null) return;
      cached = Promise.resolve({ ...space, unrelated });
      await saveUnrelatedSimilarity(db, space, unrelated);
    } catch {
      measuring = undefined;
    }
  };
  return {
    async of(vectors: readonly number[][]): Promise<EmbeddingSpace> {
      const wrong = vectors.find((vector) => vector.length === 0 || !vector.every(Number.isFinite));
      if (wrong)
        throw new MemoryError(
          "EMBEDDING_FAILED",
          "The embeddings gave an empty vector or one with NaN.",
        );
      const [first, ...others] = new Set(vectors.map((vector) => vector.length));
      const space = await spaceFor(first as number);
      for (const dimensions of others) await spaceFor(dimensions);
      return space;
    },
    async measured(space: EmbeddingSpace, timeoutMs: number): Promise<EmbeddingSpace> {
      if (space.unrelated !== null) return space;
      if (measuring === undefined && performance.now() - measuredAtMs > measureAgainAfterMs) {
        measuredAtMs = performance.now();
        measuring = measure(space);
      }
      await answerInTime(timeoutMs, measuring ?? Promise.resolve()).catch(() => {});
      return (await cached) ?? space;
    },
  };
}

/** @param options.timeoutMs for each hundred documents */
export function createEmbedder(
  db: Connection,
  embeddings: EmbeddingsInterface,
  { timeoutMs }: { readonly timeoutMs: number },
): Embedder {
  const space = spaceCache(db, embeddings, timeoutMs);
  const failed = (cause: unknown, advice = ""): MemoryError => {
    if (MemoryError.is(cause) && cause.code !== "MODEL_FAILED") return cause;
    const kind = MemoryError.is(cause) ? `${cause.message}${advice}` : errorKind(cause);
    return new MemoryError("EMBEDDING_FAILED", `The embeddings failed: ${kind}`, { cause });
  };
  const embedDocuments = async (texts: readonly string[]) => embeddings.embedDocuments([...texts]);
  return {
    async documents(texts) {
      try {
        const deadlineMs = timeoutMs * Math.max(1, Math.ceil(texts.length / textsInTime));
        const vectors = await answerInTime(deadlineMs, embedDocuments(texts));
        if (vectors.length === texts.length) return embedded(await space.of(vectors), vectors);
      } catch (cause) {
        throw failed(cause, " If they take longer, raise upkeep.timeoutMs in the config.");
      }
      throw new MemoryError(
        "EMBEDDING_FAILED",
        `The embeddings did not give ${texts.length} vectors.`,
      );
    },
    async given(vectors) {
      if (vectors.length === 0) return undefined;
      // The model decides the dimensions, not the first vector.
      const { space: modelSpace } = await this.documents(["dimensions"]);
      await space.of(vectors);
      return embedded(modelSpace, vectors);
    },
    async query(text, timeoutMs) {
      const endMs = performance.now() + timeoutMs;
      try {
        const vector = await answerInTime(timeoutMs, embeddings.embedQuery(text));
        const found = await space.of([vector]);
        const measured = await space.measured(found, Math.max(0, endMs - performance.now()));
        return { space: measured, vector: toSql(unit(vector)) };
      } catch (cause) {
        throw failed(cause);
      }
    },
  };
}

function embedded(space: EmbeddingSpace, vectors: readonly number[][]): Embedded {
  const units = vectors.map(unit);
  return { space, units, vectors: units.map((vector) => toSql(vector)) };
}

/** A zero vector, similar to nothing, stays. */
function unit(vector: readonly number[]): number[] {
  const length = lengthOf(vector) || 1;
  return vector.map((value) => value / length);
}

/** Fast path: squares of usual numbers neither overflow nor underflow. */
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
