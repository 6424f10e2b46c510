/** `mnemograph/local-embeddings`: a small embedding model on this machine, without a key. */

import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { parseInput } from "../text/parse-input.js";
import { embeddingsOf, type LocalEmbeddings } from "./embeddings-of.js";
import { type LocalModelName, localModels } from "./local-models.js";

export type { LocalEmbeddings, LocalModelName };

export interface LocalEmbeddingsOptions {
  /**
   * Both have 384 dimensions. "bge-small-en-v1.5" reads English, "multilingual-e5-small" a hundred
   * languages.
   * @default "bge-small-en-v1.5"
   */
  readonly model?: LocalModelName;
  /** The folder that models are downloaded into. @default ".cache/mnemograph" in the user's home */
  readonly cacheDir?: string;
  /**
   * A folder with `tokenizer.json` and `onnx/model_quantized.onnx` of the model, for networks
   * without the hub: nothing is downloaded.
   */
  readonly modelDir?: string;
  /** Whether only files that `cacheDir` has are used. @default false */
  readonly localFilesOnly?: boolean;
  /** The address of the hub, or of a mirror. @default `HF_ENDPOINT`, else "https://huggingface.co" */
  readonly hub?: string;
}

const optionsSchema = z.strictObject({
  model: z.enum(Object.keys(localModels) as [LocalModelName]).default("bge-small-en-v1.5"),
  cacheDir: z.string().default(join(homedir(), ".cache", "mnemograph")),
  modelDir: z.string().optional(),
  localFilesOnly: z.boolean().default(false),
  hub: z.url().default(() => process.env.HF_ENDPOINT ?? "https://huggingface.co"),
});

/**
 * Embeddings of a small model on this machine, in one child process that all memories of this
 * process share. It starts with the first text, and ends with this process.
 * @example
 * ```ts
 * createMemory({ embeddings: localEmbeddings({ modelDir: "/models/bge-small-en-v1.5" }) });
 * ```
 * @throws MemoryError `INVALID_INPUT`, `PEER_MISSING`
 */
export function localEmbeddings(options: LocalEmbeddingsOptions = {}): LocalEmbeddings {
  const given = parseInput(optionsSchema, options, "options of localEmbeddings");
  const { model, cacheDir, modelDir, localFilesOnly, hub } = given;
  return embeddingsOf({
    model: localModels[model],
    folder: modelDir ?? join(cacheDir, model),
    hub,
    mayDownload: modelDir === undefined && !localFilesOnly,
  });
}
