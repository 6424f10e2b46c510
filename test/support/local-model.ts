import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { Module } from "node:module";
import { delimiter, join, resolve } from "node:path";
import { localModels } from "../../src/local-embeddings/local-models.js";

/** What `npm run test:model` installs. */
export const localPackages = ["onnxruntime-node@1.30.0", "@huggingface/tokenizers@0.2.0"];

const models = resolve(import.meta.dirname, "../../.models");

/** The folder of the English model; null, with a line that says so, where there is none. */
export function localModelDir(): string | null {
  const folder = resolve(process.env.TEST_MODEL_DIR ?? join(models, "bge-small-en-v1.5"));
  const files = Object.keys(localModels["bge-small-en-v1.5"].files);
  const needed = [...files.map((path) => join(folder, path)), join(models, "node_modules")];
  const missing = needed.find((path) => !existsSync(path));
  if (missing === undefined) return folder;
  console.log(`Tests with real vectors are skipped: no ${missing}. Run \`npm run test:model\`.`);
  return null;
}

/** Environment variables of a process that finds the packages, and runs TypeScript. */
export const localEnvironment = {
  NODE_PATH: [join(models, "node_modules"), process.env.NODE_PATH].filter(Boolean).join(delimiter),
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --import=${import.meta.resolve("tsx")}`,
};

/** Gives this process, and those that it starts, the packages. */
export function usePackages(): void {
  Object.assign(process.env, localEnvironment);
  // Node reads NODE_PATH when it starts.
  (Module as unknown as { _initPaths(): void })._initPaths();
}

interface Shared {
  readonly child: ChildProcess | null;
  ends: number;
}

/** The child process that embeds for this one, and how often one ended by itself. */
export function embeddingProcess(): Shared {
  const key = Symbol.for("mnemograph.embeddingProcess");
  return (globalThis as unknown as { [key]: Shared })[key];
}
