import { randomUUID } from "node:crypto";
import { afterAll } from "vitest";
import { HashingEmbeddings } from "../../src/testing/index.js";
import type { TestDatabase } from "./test-database.js";

/** Makes further schemas in the test database, set up with vectors, dropped after the tests. */
export function useFreshSchemas(db: TestDatabase): () => Promise<Pick<TestDatabase, "pool" | "schema" | "memory">> {
  const made: string[] = [];
  afterAll(async () => {
    for (const schema of made) await db.pool.query(`drop schema if exists "${schema}" cascade`);
  });
  return async () => {
    const schema = `fresh_${randomUUID().slice(0, 8)}`;
    made.push(schema);
    const memory: TestDatabase["memory"] = (options) => db.memory({ ...options, schema });
    await memory({ embeddings: new HashingEmbeddings({ dimensions: 16 }) }).setup();
    return { pool: db.pool, schema, memory };
  };
}
