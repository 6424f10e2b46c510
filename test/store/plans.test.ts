import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { planNodes, rowsOf } from "../support/query-plan.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const [own, others, scopes] = [20_000, 100_000, 1_000];
const scope = { userId: "ana", appId: "notes" };
const embeddings = new HashingEmbeddings({ dimensions: 16 });

/** `own` items of Ana and `others` of other users of her app, in ten namespaces each. */
const fill = (schema: string) => `
  insert into "${schema}".store_item (tenant_id, user_id, app_id, namespace, path, key, value, words)
  select '', owner, 'notes', array['docs', 'n' || n % 10], '"docs","n' || n % 10 || '",', 'key' || n,
    jsonb_build_object('text', 'tea and boat ' || n), to_tsvector('english', 'tea and boat ' || n)
  from (
    select 'ana' as owner, n from generate_series(1, ${own}) n
    union all
    select 'other ' || n % ${scopes}, n from generate_series(1, ${others}) n
  ) each`;

const fillVectors = (schema: string) => `
  insert into "${schema}".store_embedding (item_ref, space_ref, tenant_id, revision, embeddings)
  select i.ref, s.id, '', i.revision, array[array_fill(0.25::real, array[16])::vector::halfvec]
  from "${schema}".store_item i cross join "${schema}".embedding_space s
  where i.user_id in ('ana', 'other 1', 'other 2') or i.ref % 10 = 0 on conflict do nothing`;

describe.skipIf(!onServer())(
  `the statements of a store with ${others} items of other scopes`,
  () => {
    /** One session that keeps its prepared statements, as the pools of the library do. */
    let pool: pg.Pool;
    let memory: Memory;

    beforeAll(async () => {
      pool = new pg.Pool({ connectionString: inject("databaseUrl") ?? "", max: 1 });
      memory = db.memory({ embeddings, database: pool });
      await memory.setup();
      await memory.store({ scope }).put(["docs", "n1"], "first", { text: "tea" });
      await pool.query(fill(db.schema));
      await pool.query(fillVectors(db.schema));
      await pool.query(`analyze "${db.schema}".store_item, "${db.schema}".store_embedding`);
    });
    afterAll(() => pool.end());

    type Store = ReturnType<Memory["store"]>;
    const explained = (statement: { readonly text: string }, how: string) => {
      return {
        ...statement,
        name: undefined,
        text: `explain (${how}, format json) ${statement.text}`,
      };
    };

    /** The most rows that a step of the store's statement reads, and the tables that it scans. */
    async function read(work: (store: Store) => Promise<unknown>, mode: string) {
      const { pool: watched, statements, inTransactions } = watchedPool(pool);
      await work(db.memory({ embeddings, database: watched }).store({ scope }));
      // A memory's first call checks the schema on the same connection before its own statement.
      const statement = [...statements, ...inTransactions].find(({ text }) =>
        text.includes("store_item"),
      );
      if (!statement) throw new Error("the store asked nothing");
      const client = await pool.connect();
      try {
        await client.query(`begin; set local plan_cache_mode = ${mode}; set local jit = off`);
        const text = `explain (analyze, format json) ${statement.text}`;
        const { rows } = await client.query({ ...statement, name: undefined, text });
        const tables = planNodes(rows).filter((node) =>
          node["Relation Name"]?.startsWith("store_"),
        );
        const scanned = tables
          .filter((node) => node["Node Type"] === "Seq Scan")
          .map((node) => node["Relation Name"]);
        return { rows: Math.max(...tables.map(rowsOf)), scanned };
      } finally {
        await client.query("rollback");
        client.release();
      }
    }

    const calls: readonly [what: string, most: number, work: (store: Store) => Promise<unknown>][] =
      [
        ["get", 2, (store) => store.get(["docs", "n1"], "key1")],
        ["put", 2, (store) => store.put(["docs", "n1"], "key1", { text: "tea" })],
        ["delete", 2, (store) => store.delete(["docs", "n1"], "key11")],
        [
          "a list of one namespace",
          own / 10 + 2,
          (store) => store.search(["docs", "n1"], { limit: 10 }),
        ],
        ["a list of all", own + 2, (store) => store.search([], { limit: 10 })],
        [
          "a filter",
          own / 10 + 2,
          (store) => store.search(["docs", "n1"], { filter: { text: "tea" } }),
        ],
        [
          "a search of one namespace",
          own / 10 + 2,
          (store) => store.search(["docs", "n1"], { query: "boat" }),
        ],
        ["a search of all", own + 2, (store) => store.search(["docs"], { query: "boat" })],
        ["the namespaces", own + 2, (store) => store.listNamespaces()],
      ];

    it("A put writes an item without looking through those of its user and app", async () => {
      const { pool: watched, statements } = watchedPool(pool);
      await db
        .memory({ embeddings, database: watched })
        .store({ scope })
        .put(["docs", "n1"], "new", { text: "tea" });
      const statement = statements.find(({ text }) => text.includes("store_item"));
      await pool.query(`delete from "${db.schema}".store_item where key = 'new'`);
      const { rows } = await pool.query(
        explained(statement as { text: string }, "analyze, buffers"),
      );
      const { "Shared Hit Blocks": hit, "Shared Read Blocks": read } =
        rows[0]["QUERY PLAN"][0].Plan;
      expect(hit + read).toBeLessThan(150);
    });

    it.each(calls)(
      "A statement of the store reads few rows: %s, at most %i",
      async (_, most, work) => {
        for (const mode of ["force_custom_plan", "force_generic_plan"]) {
          const { rows, scanned } = await read(work, mode);
          expect(scanned).toEqual([]);
          expect(rows).toBeLessThanOrEqual(most);
        }
      },
    );
  },
);
