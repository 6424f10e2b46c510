import { setTimeout as wait } from "node:timers/promises";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { toSql } from "pgvector";
import { withDeadline } from "../deadline.js";
import { MemoryError } from "../errors.js";
import { errorKind, type Logger } from "../logger.js";
import type { Connection } from "../postgres/connection.js";
import {
  type EmbeddingSpace,
  ensureEmbeddingSpace,
  saveUnrelatedSimilarity,
} from "./embedding-space.js";
import { isRefused, retryAfterMs } from "./provider-error.js";
import { measureUnrelated, type UnrelatedSimilarity } from "./unrelated-similarity.rule.js";

/** Users' questions and memory-like statements, all unrelated. */
const sampleQuestions = [
  "Which airline should I book?",
  "How is the marathon training going?",
  "Can you find the bug in this code?",
  "What did the dentist say?",
  "What should I cook tonight?",
  "When is the rent due?",
  "Do you remember my shoe size?",
  "Tell me again who won the election.",
];
const sampleStatements = [
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

export async function measureSpace(
  embeddings: EmbeddingsInterface,
): Promise<UnrelatedSimilarity | null> {
  const [asked, stated] = await Promise.all([
    Promise.all(sampleQuestions.map(async (question) => embeddings.embedQuery(question))),
    embeddings.embedDocuments(sampleStatements),
  ]);
  return stated.length === sampleStatements.length ? measureUnrelated(asked, stated) : null;
}

/** Texts per deadline. Local models take some 50 ms each. */
const textsInTime = 100;

/** Texts in one request: most providers take more, and a refusal costs little. */
const textsInRequest = 64;

/** A provider that failed is not waited for, and asked again after this time. */
const outMs = 30_000;

type Vector = readonly number[];

/** The vector of a text, or why it was refused. */
type Found = Vector | MemoryError;

const measureAgainAfterMs = 60_000;

function spaceCache(db: Connection, embeddings: EmbeddingsInterface, measuringMs: number) {
  const name = modelName(embeddings);
  const cached = new Map<number, Promise<EmbeddingSpace>>();
  let measuring = Promise.resolve();
  let measuredAtMs = Number.NEGATIVE_INFINITY;

  const spaceFor = (dimensions: number): Promise<EmbeddingSpace> => {
    const space = cached.get(dimensions) ?? ensureEmbeddingSpace(db, { name, dimensions });
    cached.set(dimensions, space);
    space.catch(() => cached.delete(dimensions));
    return space;
  };
  const measure = async (space: EmbeddingSpace): Promise<void> => {
    const unrelated = await withDeadline(measuringMs, () => measureSpace(embeddings));
    if (unrelated === null) return;
    cached.set(space.dimensions, Promise.resolve({ ...space, unrelated }));
    await saveUnrelatedSimilarity(db, space, unrelated);
  };
  return {
    of: spaceFor,
    async measured(dimensions: number, timeoutMs: number): Promise<EmbeddingSpace> {
      const space = await spaceFor(dimensions);
      if (space.unrelated !== null) return space;
      if (performance.now() - measuredAtMs > measureAgainAfterMs) {
        measuredAtMs = performance.now();
        measuring = measure(space);
      }
      // Without it, searches use the assumed similarity.
      await withDeadline(timeoutMs, () => measuring).catch(() => {});
      return spaceFor(dimensions);
    },
  };
}

export type Embedder = ReturnType<typeof createEmbedder>;

/**
 * @param timeoutMs for each hundred documents
 * @param onOutage called when the provider begins to fail
 */
export function createEmbedder(
  { db, logger }: { readonly db: Connection; readonly logger: Logger },
  embeddings: EmbeddingsInterface,
  timeoutMs: number,
  onOutage: (error: MemoryError) => void,
) {
  const spaces = spaceCache(db, embeddings, timeoutMs);
  const provider = watchProvider(onOutage);
  const lacks = (lacking: number, all: number, error: MemoryError) =>
    logger.warn(`${lacking} of ${all} texts have no vector until \`reembed\`: ${error.message}`);

  /** Waits as long as the provider asks, and halves what it refuses. */
  const embedOrHalve = async (texts: readonly string[], endMs: number): Promise<Found[]> => {
    try {
      const leftMs = Math.max(1, Math.ceil(endMs - performance.now()));
      const vectors = await withDeadline(leftMs, () => embeddings.embedDocuments([...texts]));
      return requireVectors(vectors, texts.length);
    } catch (cause) {
      const delayMs = retryAfterMs(cause);
      if (delayMs !== null && performance.now() + delayMs < endMs) {
        await wait(delayMs);
        return embedOrHalve(texts, endMs);
      }
      const error = provider.failed(cause, texts, documentsAdvice);
      if (!mayPassAlone(cause, texts.length)) throw error;
      if (texts.length === 1) return [error];
      const middle = Math.ceil(texts.length / 2);
      const first = await embedOrHalve(texts.slice(0, middle), endMs);
      return [...first, ...(await embedOrHalve(texts.slice(middle), endMs))];
    }
  };
  /**
   * Only texts that are refused by themselves have no vectors. @param batch texts in one request
   * @throws MemoryError `EMBEDDING_FAILED`
   */
  const insist = async (texts: readonly string[], batch: number) => {
    const deadlineMs = timeoutMs * Math.max(1, Math.ceil(texts.length / textsInTime));
    const endMs = performance.now() + deadlineMs;
    const found: Found[] = [];
    while (found.length < texts.length)
      found.push(...(await embedOrHalve(texts.slice(found.length, found.length + batch), endMs)));
    const refused = found.filter((each) => each instanceof Error);
    if (refused[0]) lacks(refused.length, texts.length, refused[0]);
    const vectors = found.map((each) => (each instanceof Error ? null : each));
    const dimensions = vectors.find((vector) => vector !== null)?.length;
    return embedded(dimensions === undefined ? null : await spaces.of(dimensions), vectors);
  };
  return {
    insist,
    /** Without vectors, and with a line in the log, where the provider fails. */
    async documents(texts: readonly string[]) {
      try {
        provider.requireUp();
        return await insist(texts, textsInRequest);
      } catch (error) {
        if (!MemoryError.is(error, "EMBEDDING_FAILED")) throw error;
        lacks(texts.length, texts.length, error);
        const none = texts.map(() => null);
        return embedded(null, none);
      }
    },
    /**
     * The first call measures the space, within `timeoutMs`. Fails at once in an outage.
     * @throws MemoryError `EMBEDDING_FAILED`
     */
    async query(text: string, timeoutMs: number) {
      provider.requireUp();
      const endMs = performance.now() + timeoutMs;
      const ask = async () => requireVectors([await embeddings.embedQuery(text)], 1);
      const [vector = []] = await withDeadline(timeoutMs, ask).catch((cause: unknown) => {
        throw provider.failed(cause, [text]);
      });
      const leftMs = Math.max(0, endMs - performance.now());
      const space = await spaces.measured(vector.length, leftMs);
      return { space, vector: toSql(unit(vector)) };
    },
  };
}

/** A provider that failed is not asked again before its outage is over. */
function watchProvider(onOutage: (error: MemoryError) => void) {
  let outage = { error: new Error(), untilMs: Number.NEGATIVE_INFINITY };
  return {
    requireUp() {
      if (performance.now() < outage.untilMs) throw outage.error;
    },
    failed(cause: unknown, texts: readonly string[], advice?: string) {
      const error = embeddingFailed(cause, texts, advice);
      if (mayPassAlone(cause, texts.length)) return error;
      const nowMs = performance.now();
      if (nowMs >= outage.untilMs) onOutage(error);
      outage = { error, untilMs: nowMs + (retryAfterMs(cause) ?? outMs) };
      return error;
    },
  };
}

function requireVectors(vectors: Vector[], count: number): Vector[] {
  const isWrong = (vector: Vector) =>
    vector.length === 0 || vector.length !== vectors[0]?.length || !vector.every(Number.isFinite);
  if (vectors.length === count && !vectors.some(isWrong)) return vectors;
  const lengths = "an empty vector or one with NaN, too few, or of several lengths";
  throw new MemoryError("EMBEDDING_FAILED", `The embeddings gave ${lengths}.`);
}

/** Whether fewer texts may be accepted. Where the client says no status, one text tells. */
const mayPassAlone = (cause: unknown, texts: number): boolean =>
  MemoryError.is(cause)
    ? cause.code === "EMBEDDING_FAILED"
    : (isRefused(cause, "texts") ?? texts > 1);

const documentsAdvice = " If they take longer, raise upkeep.timeoutMs in the config.";

function embeddingFailed(cause: unknown, texts: readonly string[], advice = ""): MemoryError {
  if (MemoryError.is(cause, "EMBEDDING_FAILED")) return cause;
  const why = MemoryError.is(cause)
    ? `${cause.message}${cause.code === "MODEL_FAILED" ? advice : ""}`
    : `${errorKind(cause)}${reasonIn(cause, texts.join(" "))}`;
  return new MemoryError("EMBEDDING_FAILED", `The embeddings failed: ${why}`, { cause });
}

/** A longer common string may be a quote. */
const maxInCommon = 11;

/** The provider's words, unless they quote `texts`: logs have no words of users. */
function reasonIn(cause: unknown, texts: string): string {
  const reason = cause instanceof Error ? cause.message.slice(0, 200) : "";
  for (let at = 0; at + maxInCommon < reason.length; at++)
    if (texts.includes(reason.slice(at, at + maxInCommon + 1))) return "";
  return `: ${reason}`;
}

export type Embedded = ReturnType<typeof embedded>;

/** In the order of the texts; null where embedding failed. The space is null if all did. */
function embedded(space: EmbeddingSpace | null, found: readonly (Vector | null)[]) {
  const units = found.map((vector) => vector && unit(vector));
  return { space, units, vectors: units.map((vector): string | null => vector && toSql(vector)) };
}

/** A zero vector, similar to nothing, stays. */
function unit(vector: Vector): number[] {
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

function modelName(embeddings: EmbeddingsInterface): string {
  const named = embeddings as { model?: unknown; modelName?: unknown };
  const name = named.model ?? named.modelName;
  return typeof name === "string" && name !== "" ? name : embeddings.constructor.name;
}
