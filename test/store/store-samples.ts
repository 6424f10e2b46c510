import { randomUUID } from "node:crypto";
import { beforeAll } from "vitest";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";

export const embeddings = new HashingEmbeddings({ dimensions: 16 });

/** The test database with the vectors of `embeddings`. */
export function useStoreDatabase() {
  const db = useTestDatabase();
  beforeAll(async () => {
    await db.memory({ embeddings }).setup();
  });
  return db;
}

export const word = () => `store${randomUUID().replaceAll("-", "")}`;

/** The scope of a user without items. */
export const user = () => ({ scope: { userId: word() } });
