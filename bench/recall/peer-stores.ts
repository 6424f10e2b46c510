import { InMemoryStore, type Item } from "@langchain/langgraph";
import { PostgresStore } from "@langchain/langgraph-checkpoint-postgres/store";
import type pg from "pg";
import type { HashingEmbeddings } from "../../src/testing/index.js";
import { type BenchDatabase, vacuumSchema } from "../bench-database.js";
import type { LoadedMemory } from "../data/corpus.js";

/** LangGraph's own stores, with the same texts and vectors. */
export interface PeerStores {
  readonly postgres: PostgresStore;
  readonly inMemory: InMemoryStore;
  close(): Promise<void>;
}

/** Where a user's memories are in both stores. */
export const namespaceOf = (userId: string): string[] => ["memories", userId];

/**
 * The stores with `corpus` in them, or null without a server: `PostgresStore` needs one.
 *
 * @param inMemoryUsers users whose memories the in-memory store holds as well.
 */
export async function loadPeerStores(
  { server, pool, schema: ours }: BenchDatabase,
  embeddings: HashingEmbeddings,
  corpus: readonly LoadedMemory[],
  inMemoryUsers: ReadonlySet<string>,
): Promise<PeerStores | null> {
  if (server === null) return null;
  const schema = `${ours}_peer`;
  const { dimensions } = embeddings;
  const postgres = new PostgresStore({
    connectionOptions: server,
    schema,
    index: { dims: dimensions, embed: embeddings, fields: ["text"] },
  });
  await postgres.setup();
  await withoutVectorIndex(pool, schema, () => loadStore(pool, schema, corpus));
  await vacuumSchema(pool, schema);
  const inMemory = new InMemoryStore({ index: { dims: dimensions, embeddings, fields: ["text"] } });
  for (const [index, { userId, text }] of corpus.entries()) {
    if (inMemoryUsers.has(userId)) await inMemory.put(namespaceOf(userId), `m${index}`, { text });
  }
  return { postgres, inMemory, close: () => postgres.stop() };
}

/** Throws unless `found` are `wanted` items of `userId`. */
export function checkFound(found: readonly Item[], userId: string, wanted: number): void {
  const own = found.filter(({ namespace }) => namespace.join() === namespaceOf(userId).join());
  if (found.length === wanted && own.length === wanted) return;
  throw new Error(
    `${found.length} items were found, ${own.length} of them ${userId}'s, not ${wanted}.`,
  );
}

/** As `put` would have written it. */
async function loadStore(
  pool: pg.Pool,
  schema: string,
  corpus: readonly LoadedMemory[],
): Promise<void> {
  const batch = 2_000;
  for (let start = 0; start < corpus.length; start += batch) {
    const rows = corpus.slice(start, start + batch);
    await pool.query(
      `with input as (
         select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as i (path, key, content, vector)
       ),
       item as (
         insert into "${schema}".store (namespace_path, key, value)
         select path, key, jsonb_build_object('text', content) from input
       )
       insert into "${schema}".store_vectors (namespace_path, key, field_path, text_content, embedding)
       select path, key, 'text', content, vector::vector from input`,
      [
        rows.map(({ userId }) => namespaceOf(userId).join(":")),
        rows.map((_, index) => `m${start + index}`),
        rows.map(({ text }) => text),
        rows.map(({ vector }) => `[${vector.join(",")}]`),
      ],
    );
  }
  const { rows } = await pool.query(
    `select (select count(*) from "${schema}".store)::integer as items,
       (select count(*) from "${schema}".store_vectors)::integer as vectors`,
  );
  if (rows[0].items !== corpus.length || rows[0].vectors !== corpus.length)
    throw new Error(`PostgresStore has ${JSON.stringify(rows[0])}, not ${corpus.length} of each.`);
}

/**
 * Does `work` without the store's vector index and makes it again: row by row it takes many times
 * as long.
 */
async function withoutVectorIndex(
  pool: pg.Pool,
  schema: string,
  work: () => Promise<void>,
): Promise<void> {
  const { rows } = await pool.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where schemaname = $1 and indexdef ~ 'USING hnsw'`,
    [schema],
  );
  if (rows.length !== 1)
    throw new Error(`PostgresStore has ${rows.length} vector indexes, not one.`);
  const [{ name, definition }] = rows as [(typeof rows)[0]];
  await pool.query(`drop index "${schema}"."${name}"`);
  await work();
  const client = await pool.connect();
  try {
    // Built within memory, which 50,000 vectors of 384 dimensions need.
    await client.query("set maintenance_work_mem = '256MB'");
    await client.query(definition);
    await client.query("reset maintenance_work_mem");
  } finally {
    client.release();
  }
}
