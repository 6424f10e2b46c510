import { setTimeout as wait } from "node:timers/promises";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { MemoryError } from "../errors.js";
import { errorKind } from "../logger.js";
import { redactSecrets } from "../text/redact-secrets.js";
import { answerInTime } from "./model-answer.js";
import { isAway, isDenied, retryAfterMs } from "./provider-error.js";

/** Texts in one request: few providers take fewer, and a refusal costs little. */
const textsInRequest = 64;

/** Texts refused one by one, and no other accepted: then the rest is not tried. */
const mostRefused = 3;

const advice = " If they take longer, raise upkeep.timeoutMs in the config.";

interface InPieces {
  readonly embeddings: EmbeddingsInterface;
  readonly texts: readonly string[];
  /** Texts in one request. @default 64 */
  readonly batch: number | undefined;
  readonly endMs: number;
  /** Called with each failure. */
  fail(cause: unknown, texts: readonly string[], advice: string): MemoryError;
}

/** Halves what is refused, and waits as long as the provider asks if the deadline allows it. */
export async function embedInPieces(input: InPieces) {
  const { texts, batch = textsInRequest, fail } = input;
  const found: (number[] | null)[] = texts.map(() => null);
  let failure: MemoryError | null = null;
  let dimensions: number | undefined;
  let refused = 0;
  const pieces = piecesOf(texts.length, batch);
  for (let piece = pieces.shift(); piece; piece = pieces.shift()) {
    const [from, to] = piece;
    const { vectors, cause } = await embedPiece(input, texts.slice(from, to), dimensions);
    if (vectors) {
      dimensions = vectors[0]?.length;
      found.splice(from, to - from, ...vectors);
      continue;
    }
    failure = fail(cause, texts, advice);
    if (to - from === 1) refused++;
    const isHopeless = dimensions === undefined && refused === mostRefused;
    if (isAway(cause) || isDenied(cause) || isHopeless) return { found, failure, stopped: failure };
    const middle = Math.ceil((from + to) / 2);
    if (to - from > 1) pieces.unshift([from, middle], [middle, to]);
  }
  return { found, failure: found.includes(null) ? failure : null, stopped: null };
}

function piecesOf(count: number, most: number): (readonly [number, number])[] {
  const starts = Array.from({ length: Math.ceil(count / most) }, (_, n) => n * most);
  return starts.map((from) => [from, Math.min(count, from + most)]);
}

async function embedPiece(
  { embeddings, endMs }: InPieces,
  texts: readonly string[],
  dimensions: number | undefined,
): Promise<{ readonly vectors: number[][] | null; readonly cause?: unknown }> {
  for (;;) {
    try {
      const leftMs = Math.max(1, Math.ceil(endMs - performance.now()));
      const vectors = await answerInTime(leftMs, embeddings.embedDocuments([...texts]));
      requireVectors(vectors, texts.length, dimensions);
      return { vectors };
    } catch (cause) {
      const delayMs = retryAfterMs(cause);
      if (delayMs === null || performance.now() + delayMs >= endMs) return { vectors: null, cause };
      await wait(delayMs);
    }
  }
}

export function requireVectors(
  vectors: readonly number[][],
  count: number,
  dimensions = vectors[0]?.length ?? 0,
): void {
  const isWrong = (vector: number[]) =>
    vector.length === 0 || vector.length !== dimensions || !vector.every(Number.isFinite);
  if (vectors.length !== count)
    throw new MemoryError("EMBEDDING_FAILED", `The embeddings did not give ${count} vectors.`);
  if (vectors.some(isWrong))
    throw new MemoryError(
      "EMBEDDING_FAILED",
      "The embeddings gave an empty vector or one with NaN, or vectors of several lengths.",
    );
}

export function embeddingFailed(
  cause: unknown,
  texts: readonly string[],
  advice: string,
): MemoryError {
  if (MemoryError.is(cause, "EMBEDDING_FAILED")) return cause;
  const why = MemoryError.is(cause)
    ? `${cause.message}${advice}`
    : `${errorKind(cause)}${reasonIn(cause, texts)}`;
  return new MemoryError("EMBEDDING_FAILED", `The embeddings failed: ${why}`, { cause });
}

/** Longer common strings may be quoted words of a user. */
const mostInCommon = 12;

/** The provider's reason, without those that quote a text: logs have no words of users. */
function reasonIn(cause: unknown, texts: readonly string[]): string {
  const reason = cause instanceof Error ? redactSecrets(cause.message.slice(0, 200)) : "";
  const all = texts.join("\n");
  for (let at = 0; at + mostInCommon <= reason.length; at++)
    if (all.includes(reason.slice(at, at + mostInCommon))) return "";
  const isQuoted = texts.some((text) => text.length < mostInCommon && reason.includes(text));
  return reason === "" || isQuoted ? "" : `: ${reason}`;
}
