/** `mnemograph/local-embeddings`: a small embedding model on this machine, without a key. */

import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { parseInput } from "../input/parse-input.js";
import { attempt } from "../input/plain-json.js";
import { checkPeer, resolvePeer } from "../peers.js";
import { childFile, embedInChild } from "./embedding-process.js";
import { runtimePackages, type TextKind } from "./local-model.js";
import { type LocalModelName, localModels } from "./local-models.js";
import { requireFiles } from "./model-files.js";

export type { LocalModelName };

const localOptionsSchema = z.strictObject({
  /**
   * Both have 384 dimensions. "bge-small-en-v1.5" reads English, "multilingual-e5-small" a hundred
   * languages.
   * @default "bge-small-en-v1.5"
   */
  model: z.enum(Object.keys(localModels) as LocalModelName[]).default("bge-small-en-v1.5"),
  /**
   * The folder that models are downloaded into, from the hub or what `HF_ENDPOINT` names.
   * @default ".cache/mnemograph" of the user's home
   */
  cacheDir: z.string().default(() => join(homedir(), ".cache/mnemograph")),
  /**
   * A folder that has the model's `tokenizer.json` and `onnx/model_quantized.onnx`. Nothing is
   * downloaded.
   */
  modelDir: z.string().optional(),
  /** Whether only files that `cacheDir` already has are used. @default false */
  localFilesOnly: z.boolean().default(false),
});

export interface LocalEmbeddingsOptions extends z.input<typeof localOptionsSchema> {}

/** LangChain embeddings. */
export interface LocalEmbeddings extends EmbeddingsInterface {
  /** Names the space of its vectors: they change with the model, its revision and its prefixes. */
  readonly model: string;
}

/**
 * Embeddings of a small model on this machine, in one child process for all memories of this
 * process. It starts with the first text, and ends with this process.
 * @example
 * ```ts
 * createMemory({ embeddings: localEmbeddings({ modelDir: "/models/bge-small-en-v1.5" }) });
 * ```
 * @throws MemoryError `INVALID_INPUT`, `PEER_MISSING`
 */
export function localEmbeddings(options: LocalEmbeddingsOptions = {}): LocalEmbeddings {
  const given = parseInput(localOptionsSchema, options, "options of localEmbeddings");
  const { cacheDir, modelDir, localFilesOnly } = given;
  const model = localModels[given.model];
  const folder = resolve(modelDir ?? join(cacheDir, given.model));
  const source = { model, folder, mayDownload: !modelDir && !localFilesOnly };
  requirePackages();
  requireFiles(source);

  const embed = async (kind: TextKind, texts: readonly string[]) =>
    (await embedInChild({ source, kind, texts })).map((vector) => Array.from(vector));
  const { repository, revision, pooling, prefixes } = model;
  const how = [pooling, prefixes.question, prefixes.statement].join("|");
  return {
    model: `${repository}@${revision.slice(0, 8)} (${how})`,
    embedDocuments: (texts) => embed("statement", texts),
    async embedQuery(text) {
      const [vector = []] = await embed("question", [text]);
      return vector;
    },
  };
}

function requirePackages(): void {
  runtimePackages.forEach(checkPeer);
  const missing: string[] = runtimePackages.filter((name) => !attempt(() => resolvePeer(name)));
  if (!childFile()) missing.push("mnemograph");
  if (missing.length === 0) return;
  // The script would download what graphics processors need, which fails in closed networks.
  const install = `npm install --ignore-scripts ${missing.join(" ")}`;
  const message = `Local embeddings need packages that cannot be found: run \`${install}\`.`;
  throw new MemoryError("PEER_MISSING", message);
}
