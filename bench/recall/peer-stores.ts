import { InMemoryStore } from "@langchain/langgraph";
import { PostgresStore } from "@langchain/langgraph-checkpoint-postgres/store";
import type pg from "pg";
import type { HashingEmbeddings } from "../../src/testing/index.js";
import type { LoadedMemory } from "./load-memories.js";

/** LangGraph's own stores, loaded with the same texts and vectors. */
export interface PeerStores {
  readonly postgres: PostgresStore;
  readonly inMemory: InMemoryStore;
  close(): Promise<void>;
}

const batch = 2_000;

/**
 * The stores with `memories` in them, one namespace a user.
 *
 * @param inMemoryUsers users whose memories the in-memory store holds as well.
 */
export async function loadPeerStores(
  connectionString: string,
  pool: pg.Pool,
  schema: string,
  embeddings: HashingEmbeddings,
  memories: readonly LoadedMemory[],
  inMemoryUsers: ReadonlySet<string>,
): Promise<PeerStores> {
  const { dimensions } = embeddings;
  const postgres = new PostgresStore({
    connectionOptions: connectionString,
    schema,
    index: { dims: dimensions, embed: embeddings, fields: ["text"] },
  });
  await postgres.setup();
  for (let start = 0; start < memories.length; start += batch) {
    const rows = memories.slice(start, start + batch);
    const values = [
      rows.map((row) => `memories:${row.user}`),
      rows.map((_, index) => `m${start + index}`),
      rows.map((row) => row.text),
      rows.map((row) => `[${row.vector.join(",")}]`),
    ];
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
      values,
    );
  }
  const inMemory = new InMemoryStore({ index: { dims: dimensions, embeddings, fields: ["text"] } });
  for (const [index, { user, text }] of memories.entries()) {
    if (inMemoryUsers.has(user)) await inMemory.put(["memories", user], `m${index}`, { text });
  }
  await pool.query(`vacuum analyze`);
  return { postgres, inMemory, close: () => postgres.stop() };
}
