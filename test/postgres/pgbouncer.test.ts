import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { withMemory } from "../../src/langgraph/wrap/with-memory.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { answering, chatAgent, newThread, say, transcript } from "../langgraph/conversation.js";
import { useIsolatedDatabase } from "../support/isolated-database.js";
import { hasPgbouncer, type Pgbouncer, startPgbouncer } from "../support/pgbouncer.js";
import { recordingLogger } from "../support/recording-logger.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { createTestMemory, type TestOptions } from "../support/test-memory.js";

const runs = onServer() && hasPgbouncer();
if (onServer() && !runs) console.log("There is no pgbouncer here: tests with it are skipped.");

const db = useTestDatabase();
const isolated = useIsolatedDatabase(db);
const closing: (() => Promise<void>)[] = [];
const schemas: string[] = [];
let bouncer: Pgbouncer;

beforeAll(async () => {
  if (!runs) return;
  const roles = (["owner", "app"] as const).map(
    (role) => new URL(isolated.connectionString(role)).username,
  );
  bouncer = await startPgbouncer(
    inject("databaseUrl") ?? "",
    Object.fromEntries(roles.map((role) => [role, ""])),
  );
});
afterAll(async () => {
  for (const close of closing) await close();
  if (!runs) return;
  for (const schema of schemas) await db.pool.query(`drop schema if exists "${schema}" cascade`);
  await bouncer?.stop();
});

const pools = {
  string: () => bouncer.url(),
  "pg.Pool": () => {
    const pool = new pg.Pool({ connectionString: bouncer.url(), max: 20 });
    closing.push(() => pool.end());
    return pool;
  },
};

function open(database: string | pg.Pool, options: TestOptions = {}) {
  const config = typeof options.config === "object" ? options.config : {};
  const logger = recordingLogger();
  const memory = createTestMemory({
    database,
    schema: db.schema,
    logger,
    jobs: "inline",
    ...options,
    config: {
      memories: { extract: false, episodes: false },
      ...config,
      database: { prepare: false, ...config.database },
    },
  });
  closing.unshift(() => memory.close());
  return { memory, logger };
}

const times = (count: number) => Array.from({ length: count }, (_, n) => n);
const scope = { userId: "ana" };

describe.skipIf(!runs).each(Object.entries(pools))(
  "a %s through PgBouncer (server only)",
  (kind, pool) => {
    it("Several processes set up a schema through PgBouncer at the same time", async () => {
      const schema = `bounced_${randomUUID().slice(0, 8)}`;
      schemas.push(schema);
      const embeddings = new HashingEmbeddings({ dimensions: 16 });
      const memories = times(4).map(() => open(pool(), { schema, embeddings }).memory);
      const applied = await Promise.all(memories.map((memory) => memory.setup()));
      expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
      expect(await memories[0]?.setup()).toEqual([]);
      const locksHeld = async () => {
        const { rows } = await db.pool.query("select from pg_locks where locktype = 'advisory'");
        return rows.length;
      };
      await expect.poll(locksHeld).toBe(0);
      await memories[0]?.memories.add({ scope, memories: { text: "Likes figs." } });
      expect(await memories[0]?.query({ scope, query: "figs" })).toHaveLength(1);
    });

    it("Concurrent calls recall, record and add through PgBouncer", async () => {
      const { memory, logger } = open(pool());
      const users = times(12).map((n) => ({ userId: `${kind} ${n}` }));
      for (const turn of times(3)) {
        await Promise.all(
          users.flatMap((user) => {
            const thread = { scope: user, threadId: `bounced ${user.userId}` };
            return [
              memory.recall({ ...thread, query: "Which garden?" }),
              memory.memories.add({
                scope: user,
                memories: { text: `Saw garden number ${turn} of ${user.userId}.` },
              }),
              memory.remember({ ...thread, messages: [new HumanMessage(`turn ${turn}`)] }),
              memory.query({ scope: user, query: "garden" }),
            ];
          }),
        );
      }
      for (const user of users) {
        expect(await memory.query({ scope: user, query: "garden", topK: 9 })).toHaveLength(3);
        expect(
          await memory.recall({ scope: user, threadId: `bounced ${user.userId}` }),
        ).toMatchObject({ lastSeq: 2 });
      }
      expect(logger.lines).toEqual([]);
    });

    it("Eight threads keep their checkpoints through PgBouncer at the same time", async () => {
      const { memory, logger } = open(pool());
      const graph = withMemory(chatAgent(answering()), memory).compile({
        checkpointer: memory.checkpointer(),
      });
      await Promise.all(
        times(8).map(async () => {
          const thread = newThread();
          for (const n of times(3)) await say(graph, `question ${n}`, thread);
          expect((await graph.getState(thread)).values.messages).toHaveLength(6);
          expect(await transcript(db, thread)).toHaveLength(6);
        }),
      );
      expect(logger.lines.filter((line) => line.startsWith("error"))).toEqual([]);
    });

    it("Calls through PgBouncer do not change the settings of sessions", async () => {
      const { memory } = open(pool());
      await memory.recall({ scope, threadId: "settings", query: "garden" });
      const { rows } = await settingsOfSessions();
      expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(1);
      expect(rows[0]).toEqual({ jit: "on", plans: "auto", timeout: "0", tenant: null });
    });
  },
);

/** The settings of the sessions of PgBouncer. */
async function settingsOfSessions() {
  const pool = new pg.Pool({ connectionString: bouncer.url(), max: 4 });
  const clients = await Promise.all(times(4).map(() => pool.connect()));
  await Promise.all(clients.map((client) => client.query("begin")));
  const results = await Promise.all(
    clients.map((client) =>
      client.query(
        `select current_setting('jit') as jit, current_setting('plan_cache_mode') as plans,
           current_setting('statement_timeout') as timeout,
           nullif(current_setting('mnemograph.tenant_id', true), '') as tenant`,
      ),
    ),
  );
  await Promise.all(clients.map((client) => client.query("rollback")));
  for (const client of clients) client.release();
  await pool.end();
  return { rows: results.flatMap(({ rows }) => rows) };
}

describe.skipIf(!runs)("deadlines through PgBouncer (server only)", () => {
  it("Deadlines stop slow statements on the server through PgBouncer", async () => {
    const config = { database: { statementTimeoutMs: 800 }, retrieval: { timeoutMs: 800 } };
    const { memory } = open(bouncer.url(), { config });
    await memory.threads.list({ scope });
    const holder = new pg.Client(inject("databaseUrl") ?? "");
    await holder.connect();
    const waiting = async () => {
      const { rows } = await db.pool.query(
        "select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and query like $1",
        [`%${db.schema}%`],
      );
      return rows[0].count as number;
    };
    try {
      await holder.query(`begin; lock table "${db.schema}".memory in access exclusive mode`);
      await expect(memory.memories.list({ scope })).rejects.toMatchObject({
        code: "DATABASE_TIMEOUT",
      });
      await expect(
        memory.memories.add({ scope, memories: { text: "Likes plums." } }),
      ).rejects.toMatchObject({
        code: "DATABASE_TIMEOUT",
      });
      await expect.poll(waiting).toBe(0);
    } finally {
      await holder.end();
    }
    await memory.memories.list({ scope });
  });

  it("An error names the setting to change where PgBouncer loses prepared statements", async () => {
    const { memory } = open(bouncer.url(), { config: { database: { prepare: true } } });
    const asked = times(40).map((n) =>
      memory.recall({ scope, threadId: `prepared ${n}`, query: "garden" }),
    );
    const reasons = (await Promise.allSettled(asked)).flatMap((result) =>
      result.status === "rejected" ? [String(result.reason)] : [],
    );
    expect(reasons).toContainEqual(
      expect.stringMatching(/set database\.prepare: false in the config/),
    );
  });
});

describe.skipIf(!runs)("tenants through PgBouncer (server only)", () => {
  it("Tenants stay apart through PgBouncer under row-level security, with concurrent calls", async () => {
    const { username } = new URL(isolated.connectionString("app"));
    const { memory, logger } = open(bouncer.url(username), {
      schema: isolated.schema,
      isolation: "rls",
    });
    const tenants = times(8).map((n) => ({ tenantId: `tenant ${n}`, userId: "ana" }));
    for (const turn of times(3)) {
      await Promise.all(
        tenants.map((tenant) =>
          memory.memories.add({
            scope: tenant,
            memories: { text: `Garden ${turn} of ${tenant.tenantId}.` },
          }),
        ),
      );
    }
    const found = await Promise.all(
      tenants.map((tenant) => memory.query({ scope: tenant, query: "garden", topK: 50 })),
    );
    for (const [index, hits] of found.entries()) {
      expect(hits.map((hit) => hit.memory.text).sort()).toEqual(
        times(3).map((turn) => `Garden ${turn} of tenant ${index}.`),
      );
    }
    expect(logger.lines.filter((line) => line.startsWith("error"))).toEqual([]);
  });
});
