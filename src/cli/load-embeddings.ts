import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { MemoryError } from "../errors.js";

/**
 * The embeddings that a module exports as default or as `embeddings`.
 *
 * @param name a file, seen from the current folder, or a package.
 * @throws MemoryError `INVALID_INPUT`
 */
export async function loadEmbeddings(name: string): Promise<EmbeddingsInterface> {
  const exports = await importModule(name);
  // A CommonJS module arrives as the default export.
  const inner = (exports.default ?? {}) as { default?: unknown; embeddings?: unknown };
  const found = [exports.default, exports.embeddings, inner.default, inner.embeddings].find(isEmbeddings);
  if (found) return found;
  throw new MemoryError(
    "INVALID_INPUT",
    `${name} exports no embeddings: export an instance of LangChain's Embeddings as default or as \`embeddings\`.`,
  );
}

async function importModule(name: string): Promise<Record<string, unknown>> {
  try {
    return await import(locate(name));
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new MemoryError("INVALID_INPUT", `The embeddings ${name} cannot be loaded: ${detail}`, { cause });
  }
}

/** A package is looked for from the current folder, as its own programs would find it. */
function locate(name: string): string {
  const file = resolve(name);
  if (isAbsolute(name) || name.startsWith(".") || existsSync(file)) return pathToFileURL(file).href;
  try {
    return pathToFileURL(createRequire(resolve("from-here.js")).resolve(name)).href;
  } catch {
    // It is not there, or has no entry for `require`.
    return name;
  }
}

function isEmbeddings(value: unknown): value is EmbeddingsInterface {
  const { embedDocuments, embedQuery } = (value ?? {}) as Partial<EmbeddingsInterface>;
  return typeof embedDocuments === "function" && typeof embedQuery === "function";
}
