import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { createMemory } from "../create-memory.js";
import { MemoryError, messageOf } from "../errors.js";
import type { Memory } from "../memory.js";
import { parseScope, type Scope } from "../scope/scope.js";
import { type DatabaseFlags, existingDatabase, isolationOf } from "./database-flags.js";

/**
 * The embeddings that a module exports as default or as `embeddings`.
 *
 * @param name a file, seen from the current folder, or a package.
 * @throws MemoryError `INVALID_INPUT`
 */
async function loadEmbeddings(name: string): Promise<EmbeddingsInterface> {
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
    const detail = messageOf(cause);
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

/** Flags of commands that use a memory. */
export interface MemoryFlags extends DatabaseFlags {
  readonly config?: string;
  readonly embeddings?: string;
  readonly embeddingSpace?: string;
}

/** Flags that say whose memory. */
export interface ScopeFlags {
  readonly tenant?: string;
  readonly user?: string;
  readonly app?: string;
}

/** `work` on the memory that flags and environment name; it is closed afterwards. */
export async function useMemory<Result>(
  flags: MemoryFlags,
  work: (memory: Memory) => Promise<Result>,
): Promise<Result> {
  const { option: database } = existingDatabase(flags, process.env);
  const { schema, config, embeddings, embeddingSpace } = flags;
  const memory = createMemory({
    database,
    schema,
    ...(await isolationOf(database, schema)),
    ...(config !== undefined && { config }),
    ...(embeddings !== undefined && { embeddings: await loadEmbeddings(embeddings) }),
    ...(embeddingSpace !== undefined && { embeddingSpace }),
  });
  try {
    return await work(memory);
  } finally {
    await memory.close();
  }
}

/** @throws MemoryError `SCOPE_REQUIRED` */
export function scopeOf({ tenant, user, app }: ScopeFlags): Scope {
  return parseScope({
    ...(tenant !== undefined && { tenantId: tenant }),
    ...(user !== undefined && { userId: user }),
    ...(app !== undefined && { appId: app }),
  });
}
