import type pg from "pg";
import { searchText } from "../../src/text/search-text.js";

/** A memory to load. */
export interface LoadedMemory {
  readonly user: string;
  readonly text: string;
  readonly vector: readonly number[];
}

const batch = 2_000;

/**
 * Loads memories straight into the tables of schema `schema`, as `memory.memories.add` would have written them.
 *
 * Adding looks for doubles and links of each memory, which is measured on its own.
 */
export async function loadMemories(
  pool: pg.Pool,
  schema: string,
  memories: readonly LoadedMemory[],
): Promise<void> {
  const users = [...new Set(memories.map((memory) => memory.user))];
  await pool.query(
    `insert into "${schema}".owner (tenant_id, user_id, app_id) select '', unnest($1::text[]), ''`,
    [users],
  );
  for (let start = 0; start < memories.length; start += batch) {
    const rows = memories.slice(start, start + batch);
    await pool.query(
      `with input as (
         select * from unnest($1::text[], $2::text[], $3::text[], $5::text[]) with ordinality
           as i (user_id, content, vector, terms, n)
       ),
       added as (
         insert into "${schema}".memory
           (id, owner_ref, tenant_id, user_id, app_id, kind, category, content, content_hash, importance, confidence)
         select gen_random_uuid(), o.id, '', i.user_id, '', 'fact', 'knowledge', i.content, $4 || i.n, 1 + i.n % 5, 1
         from input i join "${schema}".owner o on o.user_id = i.user_id
         returning ref, owner_ref, content, content_hash
       ),
       term as (
         insert into "${schema}".memory_term (owner_ref, lexeme, memory_ref, frequency, length)
         select a.owner_ref, v.lexeme, a.ref, cardinality(v.positions),
           sum(cardinality(v.positions)) over (partition by a.ref)
         from added a join input i on a.content_hash = $4 || i.n
         cross join lateral unnest(to_tsvector('english', i.terms)) v
       )
       insert into "${schema}".memory_embedding (space_ref, memory_ref, owner_ref, embedding)
       select s.id, a.ref, a.owner_ref, i.vector::halfvec
       from added a join input i on a.content_hash = $4 || i.n cross join "${schema}".embedding_space s`,
      [
        rows.map((row) => row.user),
        rows.map((row) => row.text),
        rows.map((row) => `[${row.vector.join(",")}]`),
        `bench-${start}-`,
        rows.map((row) => searchText(row.text, "english")),
      ],
    );
  }
  await countMemories(pool, schema);
}

/** Copies every memory of schema `schema` to `copies` further users each, in the database. */
export async function multiplyMemories(pool: pg.Pool, schema: string, copies: number): Promise<void> {
  for (let copy = 1; copy <= copies; copy++) {
    const suffix = `#${copy}`;
    await pool.query(
      `insert into "${schema}".owner (tenant_id, user_id, app_id)
       select '', user_id || $1, '' from "${schema}".owner where user_id !~ '#'`,
      [suffix],
    );
    await pool.query(
      `with source as (
         select m.*, o.id as copy_owner from "${schema}".memory m
         join "${schema}".owner o on o.user_id = m.user_id || $1 where m.user_id !~ '#'
       ),
       added as (
         insert into "${schema}".memory
           (id, owner_ref, tenant_id, user_id, app_id, kind, category, content, content_hash, importance, confidence)
         select gen_random_uuid(), copy_owner, '', user_id || $1, '', kind, category, content,
           ref || $1, importance, confidence from source
         returning ref, owner_ref, content_hash
       ),
       pair as (
         select a.ref, a.owner_ref, split_part(a.content_hash, '#', 1)::bigint as source_ref from added a
       ),
       term as (
         insert into "${schema}".memory_term (owner_ref, lexeme, memory_ref, frequency, length)
         select p.owner_ref, t.lexeme, p.ref, t.frequency, t.length
         from pair p join "${schema}".memory_term t on t.memory_ref = p.source_ref
       )
       insert into "${schema}".memory_embedding (space_ref, memory_ref, owner_ref, embedding)
       select e.space_ref, p.ref, p.owner_ref, e.embedding
       from pair p join "${schema}".memory_embedding e on e.memory_ref = p.source_ref`,
      [suffix],
    );
  }
  await countMemories(pool, schema);
}

async function countMemories(pool: pg.Pool, schema: string): Promise<void> {
  await pool.query(
    `update "${schema}".owner o set memory_count = c.memories, memory_length = c.length
     from (
       select owner_ref, count(*) as memories, sum(length) as length
       from (select distinct owner_ref, memory_ref, length from "${schema}".memory_term) d group by owner_ref
     ) c where c.owner_ref = o.id`,
  );
  await pool.query(`vacuum analyze`);
}
