import { randomUUID } from "node:crypto";
import type pg from "pg";
import { afterAll, beforeAll } from "vitest";
import type { Memory, MemoryOptions, Scope } from "../../src/index.js";
import { type TestDatabase, useTestDatabase } from "./test-database.js";

/** Cells of a test file's own, set up in the test database. */
export interface TestCells {
  readonly db: TestDatabase;
  readonly schema: string;
  readonly cells: number;
  readonly pool: pg.Pool;
  memory(options?: MemoryOptions): Memory;
  /** A tenant of a cell, another for each `n`. */
  tenantIn(cell: number, n?: number): string;
  /** A user without a tenant of a cell, another for each `n`. */
  userIn(cell: number, n?: number): string;
}

/** Drops the schemas whose names begin with `prefix`. */
export async function dropSchemas(pool: pg.Pool, prefix: string): Promise<void> {
  const { rows } = await pool.query(
    "select nspname as name from pg_namespace where starts_with(nspname, $1)",
    [prefix],
  );
  for (const { name } of rows) await pool.query(`drop schema "${name}" cascade`);
}

/** A memory of `cells` cells in the test database of the calling file. */
export function useCells(cells: number): TestCells {
  const db = useTestDatabase();
  const schema = `cells_${randomUUID().slice(0, 8)}`;
  const memory: TestCells["memory"] = (options) => db.memory({ schema, cells, ...options });
  const found = (cell: number, n: number, scopeOf: (id: string) => Scope) => {
    const whole = memory();
    for (let at = 0, left = n; ; at++)
      if (whole.cells.of(scopeOf(`who-${at}`)) === cell && left-- === 0) return `who-${at}`;
  };
  beforeAll(async () => {
    await memory().setup();
  }, 60_000);
  afterAll(() => dropSchemas(db.pool, schema));
  return {
    ...{ db, schema, cells, memory },
    get pool() {
      return db.pool;
    },
    tenantIn: (cell, n = 0) => found(cell, n, (tenantId) => ({ tenantId, userId: "ana" })),
    userIn: (cell, n = 0) => found(cell, n, (userId) => ({ userId })),
  };
}
