import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, inject } from "vitest";
import type { Memory } from "../../src/memory.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { silentLogger } from "./silent-logger.js";
import type { TestDatabase } from "./test-database.js";
import { createTestMemory, type TestOptions } from "./test-memory.js";

/** The role that owns the tables, or one that may only read and write them. */
export type Role = "owner" | "app";

export interface IsolatedDatabase extends Pick<TestDatabase, "schema" | "pool"> {
  /** As the server's superuser. */
  readonly pool: pg.Pool;
  connectionString(role: Role): string;
  /** An isolated memory. @default role "app" */
  memory(options?: TestOptions & { readonly role?: Role }): Memory;
  /** Runs `work` in a transaction of the app's role for a tenant, then rolls back. */
  asTenant<Result>(
    tenancy: string,
    work: (client: pg.ClientBase) => Promise<Result>,
  ): Promise<Result>;
}

/** A schema that isolates tenants, set up by its owner. Only in runs on a server. */
export function useIsolatedDatabase(db: TestDatabase): IsolatedDatabase {
  const id = randomUUID().slice(0, 8);
  const schema = `isolated_${id}`;
  const roles = { owner: `owner_${id}`, app: `app_${id}` };
  const memories: Memory[] = [];
  const pools: pg.Pool[] = [];
  const connectionString = (role: Role) => {
    const url = new URL(inject("databaseUrl") ?? "");
    url.username = roles[role];
    return url.href;
  };
  const memory: IsolatedDatabase["memory"] = ({ role = "app", config, ...options } = {}) => {
    const made = createTestMemory({
      database: connectionString(role),
      schema,
      isolation: "rls",
      jobs: "inline",
      logger: silentLogger,
      ...options,
      config: typeof config === "string" ? config : { preset: "every-round", ...config },
    });
    memories.push(made);
    return made;
  };

  beforeAll(async () => {
    if (inject("databaseUrl") === null) return;
    await db.memory({ embeddings: new HashingEmbeddings({ dimensions: 16 }) }).setup();
    for (const role of Object.values(roles)) await db.pool.query(`create role ${role} login`);
    await db.pool.query(`create schema ${schema} authorization ${roles.owner}`);
    await memory({ role: "owner", embeddings: new HashingEmbeddings({ dimensions: 16 }) }).setup();
    await db.pool.query(`grant usage on schema ${schema} to ${roles.app}`);
    await db.pool.query(
      `grant select, insert, update, delete on all tables in schema ${schema} to ${roles.app}`,
    );
  });
  afterAll(async () => {
    if (inject("databaseUrl") === null) return;
    for (const each of memories) await each.close();
    for (const pool of pools) await pool.end();
    await db.pool.query(`drop schema ${schema} cascade`);
    for (const role of Object.values(roles))
      await db.pool.query(`drop owned by ${role}; drop role ${role}`);
  });

  return {
    schema,
    get pool() {
      return db.pool;
    },
    connectionString,
    memory,
    async asTenant(tenancy, work) {
      const pool = new pg.Pool({ connectionString: connectionString("app"), max: 1 });
      pools.push(pool);
      const client = await pool.connect();
      try {
        await client.query("begin");
        await client.query("select set_config('mnemograph.tenant_id', $1, true)", [tenancy]);
        return await work(client);
      } finally {
        await client.query("rollback");
        client.release();
      }
    },
  };
}
