import { randomUUID } from "node:crypto";
import type { Memory, MemoryDraft } from "../../src/index.js";
import type { AppScope } from "../../src/scope/scope.js";
import type { TestDatabase } from "../support/test-database.js";
import type { TestOptions } from "../support/test-memory.js";

/** An app of its own for a test. */
export const newApp = (fields: { tenantId?: string } = {}): AppScope => ({
  ...fields,
  appId: randomUUID(),
});

/** A memory on `db`, and an app of its own. */
export const openApp = (db: TestDatabase, options?: TestOptions) => ({
  memory: db.memory(options),
  scope: newApp(),
});

/** Gives an app notes, one after another. Returns their ids. */
export async function addNotes(
  memory: Memory,
  scope: AppScope,
  texts: readonly string[],
  fields: Partial<MemoryDraft> = {},
): Promise<string[]> {
  const ids: string[] = [];
  for (const text of texts) {
    const [added] = await memory.memories.add({
      scope,
      memories: { text, kind: "note", origin: "worker", ...fields },
    });
    if (!added?.id) throw new Error(`"${text}" was ${added?.outcome}`);
    ids.push(added.id);
  }
  return ids;
}
