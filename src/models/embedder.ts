import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { toSql } from "pgvector";
import type { Clock } from "../clock.js";
import type { MemoryError } from "../errors.js";
import type { Logger } from "../logger.js";
import type { Connection } from "../postgres/connection.js";
import { embeddingFailed, embedInPieces, requireVectors } from "./embed-in-pieces.js";
import {
  type EmbeddingSpace,
  ensureEmbeddingSpace,
  saveUnrelatedSimilarity,
} from "./embedding-space.js";
import { answerInTime } from "./model-answer.js";
import { createProviderPause } from "./provider-pause.js";
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
  /** Null without any vector. */
  readonly space: EmbeddingSpace | null;
  /** Of unit length, in the order of the texts; null where embedding failed: `reembed` does it. */
  readonly units: readonly (readonly number[] | null)[];
  readonly vectors: readonly (string | null)[];
  /** Why texts were not tried: an outage, a limit, wrong rights. Null if all were. */
  readonly stopped: MemoryError | null;
}

export interface Embedder {
  /**
   * Logs why texts have no vectors. @param batch texts in one request, made also in an outage
   * @default 64, and none in an outage
   */
  documents(texts: readonly string[], batch?: number): Promise<Embedded>;
  /** The space of the model's vectors now. @throws MemoryError `EMBEDDING_FAILED` */
  space(): Promise<EmbeddingSpace>;
  /**
   * The first call measures the space, within `timeoutMs`. Fails at once while the provider is
   * away.
   * @throws MemoryError `EMBEDDING_FAILED`
   */
  query(
    text: string,
    timeoutMs: number,
  ): Promise<{ readonly space: EmbeddingSpace; readonly vector: string }>;
}

const measureAgainAfterMs = 60_000;

function openSpace(
  db: Connection,
  embeddings: EmbeddingsInterface,
  { dimensions, timeoutMs }: { readonly dimensions: number; readonly timeoutMs: number },
) {
  const name = modelName(embeddings);
  let cached: Promise<EmbeddingSpace> | undefined;
  let measuring: Promise<void> | undefined;
  let measuredAtMs = Number.NEGATIVE_INFINITY;

  const current = async (): Promise<EmbeddingSpace> => {
    cached ??= ensureEmbeddingSpace(db, { name, dimensions }).catch((error: unknown) => {
      cached = undefined;
      throw error;
    });
    return cached;
  };
  /** Ignores errors: searches use the assumed similarity. */
  const measure = async (space: EmbeddingSpace): Promise<void> => {
    try {
      const unrelated = await answerInTime(timeoutMs, measureSpace(embeddings));
      if (unrelated === null) return;
      cached = Promise.resolve({ ...space, unrelated });
      await saveUnrelatedSimilarity(db, space, unrelated);
    } catch {
      measuring = undefined;
    }
  };
  return {
    current,
    async measured(timeoutMs: number): Promise<EmbeddingSpace> {
      const space = await current();
      if (space.unrelated !== null) return space;
      if (measuring === undefined && performance.now() - measuredAtMs > measureAgainAfterMs) {
        measuredAtMs = performance.now();
        measuring = measure(space);
      }
      await answerInTime(timeoutMs, measuring ?? Promise.resolve()).catch(() => {});
      return current();
    },
  };
}

/** Questions are searched by words for half a minute after an outage begins, then for a minute. */
const pauseMs = { firstDelayMs: 30_000, mostMs: 60_000 };

/** What a text of the size of a memory may be, for a vector whose values do not matter. */
const sample = "The user likes tea.";

interface EmbedderDeps {
  readonly db: Connection;
  readonly embeddings: EmbeddingsInterface;
  readonly logger: Logger;
  readonly clock: Clock;
  /** For each hundred documents. */
  readonly timeoutMs: number;
}

export function createEmbedder(deps: EmbedderDeps): Embedder {
  const { db, embeddings, logger, clock, timeoutMs } = deps;
  const spaces = new Map<number, ReturnType<typeof openSpace>>();
  const pause = createProviderPause(clock, pauseMs);
  let lastFailure: MemoryError | undefined;

  const spaceOf = (dimensions: number) => {
    const space = spaces.get(dimensions) ?? openSpace(db, embeddings, { dimensions, timeoutMs });
    spaces.set(dimensions, space);
    return space;
  };
  const fail = (cause: unknown, texts: readonly string[], advice = "") => {
    pause.failed(cause);
    lastFailure = embeddingFailed(cause, texts, advice);
    return lastFailure;
  };
  const isOut = () => (pause.until() && !pause.isLimited() ? lastFailure : undefined);
  const embedAll = async (texts: readonly string[], batch: number | undefined) => {
    const endMs =
      performance.now() + timeoutMs * Math.max(1, Math.ceil(texts.length / textsInTime));
    const outage = batch === undefined ? isOut() : undefined;
    const made = outage
      ? { found: texts.map(() => null), stopped: outage, failure: outage }
      : await embedInPieces({ embeddings, texts, batch, endMs, fail });
    const { found, failure, stopped } = made;
    const dimensions = found.find((vector) => vector !== null)?.length;
    if (dimensions !== undefined && !stopped) pause.answered();
    const space = dimensions === undefined ? null : await spaceOf(dimensions).current();
    return { embedded: { ...embedded(space, found), stopped }, failure };
  };
  return {
    async documents(texts, batch) {
      const { embedded, failure } = await embedAll(texts, batch);
      const lacking = embedded.vectors.filter((vector) => vector === null).length;
      if (failure)
        logger.warn(
          `${lacking} of ${texts.length} texts have no vector until \`reembed\`: ${failure.message}`,
        );
      return embedded;
    },
    async space() {
      const { embedded, failure } = await embedAll([sample], 1);
      if (embedded.space) return embedded.space;
      throw failure;
    },
    async query(text, timeoutMs) {
      if (lastFailure && pause.until()) throw lastFailure;
      const endMs = performance.now() + timeoutMs;
      let vector: number[];
      try {
        vector = await answerInTime(timeoutMs, embeddings.embedQuery(text));
        requireVectors([vector], 1);
      } catch (cause) {
        throw fail(cause, [text]);
      }
      pause.answered();
      const space = await spaceOf(vector.length).measured(Math.max(0, endMs - performance.now()));
      return { space, vector: toSql(unit(vector)) };
    },
  };
}

function embedded(space: EmbeddingSpace | null, vectors: readonly (number[] | null)[]) {
  const units = vectors.map((vector) => vector && unit(vector));
  return { space, units, vectors: units.map((vector): string | null => vector && toSql(vector)) };
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
