import { readFileSync } from "node:fs";
import { join } from "node:path";
import { requirePeer } from "../peers.js";
import type { EmbeddingRequest } from "./embedding-request.js";
import { type LocalModel, tokenizerFile, weightsFile } from "./local-models.js";
import { ensureModelFiles, type ModelSource } from "./model-files.js";

// What is used of two optional packages, which are no development dependencies: they are large.
interface Tensor {
  readonly data: Float32Array;
}
interface Session {
  readonly inputNames: readonly string[];
  run(inputs: Readonly<Record<string, Tensor>>): Promise<{ readonly last_hidden_state: Tensor }>;
}
interface OnnxRuntime {
  readonly InferenceSession: { create(path: string, options: object): Promise<Session> };
  readonly Tensor: new (type: "int64", data: BigInt64Array, dims: readonly number[]) => Tensor;
}
interface Tokenizers {
  readonly Tokenizer: new (json: unknown, config: object) => Tokenizer;
}
interface Tokenizer {
  encode(text: string): { readonly ids: readonly number[] };
}

export const runtimePackage = "onnxruntime-node";
export const tokenizersPackage = "@huggingface/tokenizers";

/** The models read no more of a text. */
const mostTokens = 512;

/** 512 tokens of any language are shorter. */
const mostCharacters = 10_000;

/**
 * Each text is embedded by itself: in a batch, int8 rounds a text by its neighbours (cosine 0.99 to
 * itself alone), and saves a third of the time.
 */
export type EmbedText = (text: string, kind: EmbeddingRequest["kind"]) => Promise<Float32Array>;

/** @throws MemoryError `PEER_MISSING` */
export async function loadLocalModel(source: ModelSource): Promise<EmbedText> {
  await ensureModelFiles(source);
  const { model, folder } = source;
  const { InferenceSession, Tensor } = requirePeer<OnnxRuntime>(runtimePackage);
  const { Tokenizer } = requirePeer<Tokenizers>(tokenizersPackage);
  const tokenizer = new Tokenizer(
    JSON.parse(readFileSync(join(folder, tokenizerFile), "utf8")),
    {},
  );
  // With a second thread a short text takes as long, and twice the processor's time.
  const threads = { intraOpNumThreads: 1, interOpNumThreads: 1 };
  const onlyErrors = { logSeverityLevel: 3 };
  const session = await InferenceSession.create(join(folder, weightsFile), {
    ...threads,
    ...onlyErrors,
  });

  return async (text, kind) => {
    const ids = tokensOf(tokenizer, model.prefixes[kind] + text.slice(0, mostCharacters));
    const tensor = (value: (id: number) => bigint) =>
      new Tensor("int64", BigInt64Array.from(ids, value), [1, ids.length]);
    const { last_hidden_state } = await session.run({
      input_ids: tensor(BigInt),
      attention_mask: tensor(() => 1n),
      token_type_ids: tensor(() => 0n),
    });
    return unitVector(last_hidden_state.data, ids.length, model.pooling);
  };
}

function tokensOf(tokenizer: Tokenizer, text: string): readonly number[] {
  const { ids } = tokenizer.encode(text);
  if (ids.length <= mostTokens) return ids;
  // The last token marks the end of the text.
  return [...ids.slice(0, mostTokens - 1), ...ids.slice(-1)];
}

function unitVector(
  hidden: Float32Array,
  tokens: number,
  pooling: LocalModel["pooling"],
): Float32Array {
  const dimensions = hidden.length / tokens;
  const vector = hidden.slice(0, dimensions);
  if (pooling === "mean") {
    // The sum has the direction of the mean.
    for (let at = dimensions; at < hidden.length; at++)
      vector[at % dimensions] = (vector[at % dimensions] ?? 0) + (hidden[at] ?? 0);
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
