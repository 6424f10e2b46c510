import { readFileSync } from "node:fs";
import { join } from "node:path";
import { requirePeer } from "../peers.js";
import { type LocalModel, tokenizerFile, weightsFile } from "./local-models.js";
import { completeFiles, type ModelSource } from "./model-files.js";

// What is used of two optional packages. They are no development dependencies, since they are
// large.
interface Session {
  run(inputs: object): Promise<{ readonly last_hidden_state: { readonly data: Float32Array } }>;
}
interface OnnxRuntime {
  readonly InferenceSession: { create(path: string, options: object): Promise<Session> };
  readonly Tensor: new (type: string, data: BigInt64Array, dimensions: number[]) => object;
}
interface Tokenizers {
  readonly Tokenizer: new (
    json: unknown,
    config: object,
  ) => { encode(text: string): { readonly ids: number[] } };
}

export const runtimePackages = ["onnxruntime-node", "@huggingface/tokenizers"] as const;

/** The models read no more of a text. */
const maxModelTokens = 512;

/** 512 tokens of any language are shorter. */
const maxTextCharacters = 10_000;

export type TextKind = keyof LocalModel["prefixes"];

/**
 * A unit vector. Each text is embedded by itself: batches save a third of the time, but int8 then
 * rounds a text by its neighbours (cosine 0.99).
 */
export type EmbedText = (text: string, kind: TextKind) => Promise<Float32Array>;

/** @throws MemoryError `PEER_MISSING` */
export async function loadLocalModel(source: ModelSource): Promise<EmbedText> {
  await completeFiles(source);
  const { model, folder } = source;
  const [runtime, tokenizers] = runtimePackages;
  const { InferenceSession, Tensor } = requirePeer<OnnxRuntime>(runtime);
  const { Tokenizer } = requirePeer<Tokenizers>(tokenizers);
  const json = readFileSync(join(folder, tokenizerFile), "utf8");
  const tokenizer = new Tokenizer(JSON.parse(json), {});
  const session = await InferenceSession.create(join(folder, weightsFile), {
    // A second thread doubles the processor's time for a short text, and saves none.
    intraOpNumThreads: 1,
    // Errors: warnings name devices that are not used.
    logSeverityLevel: 3,
  });

  return async (text, kind) => {
    const all = tokenizer.encode(model.prefixes[kind] + text.slice(0, maxTextCharacters)).ids;
    // The last token marks the end of the text.
    const ids = [...all.slice(0, Math.min(all.length, maxModelTokens) - 1), ...all.slice(-1)];
    const tensor = (value: (id: number) => bigint) =>
      new Tensor("int64", BigInt64Array.from(ids, value), [1, ids.length]);
    const { last_hidden_state: hidden } = await session.run({
      input_ids: tensor(BigInt),
      attention_mask: tensor(() => 1n),
      token_type_ids: tensor(() => 0n),
    });
    const dimensions = hidden.data.length / ids.length;
    const counted = model.pooling === "first" ? dimensions : hidden.data.length;
    return unitSum(hidden.data.subarray(0, counted), dimensions);
  };
}

/** The direction of the mean of the vectors that follow each other in `data`. */
function unitSum(data: Float32Array, dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions);
  data.forEach((value, at) => {
    sum[at % dimensions] = (sum[at % dimensions] ?? 0) + value;
  });
  const length = Math.hypot(...sum);
  return sum.map((value) => value / length);
}
