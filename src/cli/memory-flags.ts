import { createMemory } from "../create-memory.js";
import type { Scope } from "../domain/scope.js";
import { parseScope } from "../domain/scope.js";
import type { Memory } from "../memory.js";
import type { DatabaseFlags } from "./database-flags.js";
import { existingDatabase } from "./existing-database.js";
import { isolationOf } from "./isolation-of.js";
import { loadEmbeddings } from "./load-embeddings.js";

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
