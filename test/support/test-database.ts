import pg from "pg";
import { afterAll, beforeAll, inject, onTestFinished } from "vitest";
import type { Memory } from "../../src/memory.js";
import { createDatabase, type Database } from "../../src/postgres/database.js";
import { silentLogger } from "./silent-logger.js";
import { createTestMemory, type TestConfig, type TestOptions } from "./test-memory.js";
import {
  giveBackWorkerDatabase,
  newSchemaName,
  takeWorkerDatabase,
  type WorkerDatabase,
} from "./worker-pool.js";

export interface TestDatabase {
  readonly pool: pg.Pool;
  readonly schema: string;
  readonly database: Database;
  /**
   * A memory on it, closed after the tests, or with the test if it works in the background.
   * Default: inline jobs, no logging, no extraction, episodes, insights or consolidation.
   */
  memory(options?: TestOptions): Memory;
}

export const onServer = () => inject("databaseUrl") !== null;

/**
 * A set-up schema for the calling test file, on the server or on the embedded database of this
 * worker. The tests of the file share it, with different ids.
 */
export function useTestDatabase(): TestDatabase {
  let opened: Omit<TestDatabase, "memory"> | undefined;
  const memories: Memory[] = [];
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(async () => {
    for (const memory of memories) await memory.close();
    await opened?.database.close();
  });
  return {
    get pool() {
      return get().pool;
    },
    get schema() {
      return get().schema;
    },
    get database() {
      return get().database;
    },
    memory(options = {}) {
      const { pool, schema } = get();
      const memory = createTestMemory({
        database: pool,
        schema,
        jobs: "inline",
        logger: silentLogger,
        ...options,
        config: withoutUpkeep(options.config),
      });
      // Its sweeps would do the next test's work, with a model of a test that has ended.
      if (options.jobs === "background") onTestFinished(() => memory.close());
      else memories.push(memory);
      return memory;
    },
  };
  function get() {
    if (!opened) throw new Error("The test database is open only while tests run.");
    return opened;
  }
}

/** Background work would use up the replies of scripted models. */
function withoutUpkeep(config: TestOptions["config"] = {}): TestConfig | string {
  if (typeof config === "string") return config;
  const { memories, insights, consolidation } = config;
  return {
    preset: "every-round",
    ...config,
    memories: { extract: false, episodes: false, ...memories },
    insights: { enabled: false, ...insights },
    consolidation: { enabled: false, ...consolidation },
  };
}

async function open() {
  const embedded = inject("embedded");
  const setUp = async ({ pool, schema }: WorkerDatabase) => {
    const memory = createTestMemory({ database: pool, schema, logger: silentLogger });
    await memory.setup();
    // Metrics of the process tell of open memories.
    await memory.close();
  };
  if (embedded) {
    const taken = await takeWorkerDatabase(embedded.dump, setUp);
    const { pool, schema } = taken;
    const database = createDatabase(pool, { schemaName: schema }, () =>
      giveBackWorkerDatabase(taken),
    );
    return { pool, schema, database };
  }
  const pool = new pg.Pool({ connectionString: inject("databaseUrl") ?? "" });
  const schema = newSchemaName();
  const database = createDatabase(pool, { schemaName: schema }, async () => {
    await pool.query(`drop schema "${schema}" cascade`);
    await pool.end();
  });
  await setUp({ pool, schema });
  return { pool, schema, database };
}
