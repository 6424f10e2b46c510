import { randomUUID } from "node:crypto";
import { afterAll } from "vitest";
import { HashingEmbeddings } from "../../src/testing/index.js";
import type { TestDatabase } from "./test-database.js";

/** Makes names of schemas that do not exist yet, dropped after the tests. */
export function useSchemaNames(db: TestDatabase): (start?: string) => string {
  const made: string[] = [];
  afterAll(async () => {
    for (const schema of made) await db.pool.query(`drop schema if exists "${schema}" cascade`);
  });
  return (start = "fresh") => {
    const schema = `${start}_${randomUUID().slice(0, 8)}`;
    made.push(schema);
    return schema;
  };
}

/** Makes further schemas in the test database, set up with vectors, dropped after the tests. */
export function useFreshSchemas(
  db: TestDatabase,
): () => Promise<Pick<TestDatabase, "pool" | "schema" | "memory">> {
  const schemaName = useSchemaNames(db);
  return async () => {
    const schema = schemaName();
    const memory: TestDatabase["memory"] = (options) => db.memory({ ...options, schema });
    await memory({ embeddings: new HashingEmbeddings({ dimensions: 16 }) }).setup();
    return { pool: db.pool, schema, memory };
  };
}
