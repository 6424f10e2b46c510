import type pg from "pg";
import { searchText } from "../../src/text/search-text.js";
import { vacuumSchema } from "../bench-database.js";
import type { LoadedMemory } from "./corpus.js";

const batch = 2_000;

/**
 * Loads memories straight into the tables of `schema`, as `memory.memories.add` would have written
 * them but without news, audit trail and links: adding looks for doubles and neighbours, which
 * would take hours here. `checkLoader` shows that both write the same. The threads that memories
 * were learned from must be there, and so must the one embedding space.
 */
export async function loadMemories(
  pool: pg.Pool,
  schema: string,
  memories: readonly LoadedMemory[],
): Promise<void> {
  await pool.query(
    `insert into "${schema}".owner (tenant_id, user_id, app_id)
     select '', name, '' from unnest($1::text[]) name on conflict do nothing`,
    [[...new Set(memories.map(({ userId }) => userId))]],
  );
  for (let start = 0; start < memories.length; start += batch) {
    await loadBatch(pool, schema, memories.slice(start, start + batch), `bench-${start}-`);
  }
  await countOwners(pool, schema);
  await vacuumSchema(pool, schema);
}

async function loadBatch(
  pool: pg.Pool,
  schema: string,
  rows: readonly LoadedMemory[],
  hash: string,
): Promise<void> {
  await pool.query(
    `with input as (
       select i.*, o.id as owner, t.id as thread from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[])
         with ordinality as i (user_id, content, vector, terms, thread_id, seq, n)
       join "${schema}".owner o on o.user_id = i.user_id
       left join "${schema}".thread t on t.thread_id = i.thread_id and t.user_id = i.user_id
     ),
     added as (
       insert into "${schema}".memory (
         id, owner_ref, tenant_id, user_id, app_id, kind, category, content, content_hash, importance, confidence,
         thread_ref, source_seqs
       )
       select gen_random_uuid(), owner, '', user_id, '', 'fact', 'knowledge', content, $7 || n, 1 + n % 5, 1,
         thread, case when thread is null then '{}' else array[seq] end
       from input order by n
       returning ref, owner_ref, content_hash
     ),
     term as (
       insert into "${schema}".memory_term (owner_ref, lexeme, memory_ref, frequency, length)
       select a.owner_ref, w.lexeme, a.ref, w.frequency, sum(w.frequency) over (partition by a.ref)
       from added a join input i on a.content_hash = $7 || i.n
       cross join lateral "${schema}".words_1('english', i.terms) w
     )
     insert into "${schema}".memory_embedding (space_ref, memory_ref, owner_ref, embedding)
     select s.id, a.ref, a.owner_ref, i.vector::halfvec
     from added a join input i on a.content_hash = $7 || i.n cross join "${schema}".embedding_space s order by i.n`,
    [
      rows.map(({ userId }) => userId),
      rows.map(({ text }) => text),
      rows.map(({ vector }) => `[${vector.join(",")}]`),
      rows.map(({ text }) => searchText(text)),
      rows.map(({ source }) => source?.threadId ?? null),
      rows.map(({ source }) => source?.seq ?? null),
      hash,
    ],
  );
}

/**
 * Copies every memory of `schema` to `copies` further users each, in the database. Sources stay
 * behind.
 */
export async function multiplyMemories(
  pool: pg.Pool,
  schema: string,
  copies: number,
): Promise<void> {
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
  await countOwners(pool, schema);
  await vacuumSchema(pool, schema);
}

/** The sizes of the lexical indexes, which adding keeps up as it goes. */
async function countOwners(pool: pg.Pool, schema: string): Promise<void> {
  await pool.query(
    `update "${schema}".owner o set memory_count = c.memories, memory_length = c.length
     from (
       select owner_ref, count(*) as memories, sum(length) as length
       from (select distinct owner_ref, memory_ref, length from "${schema}".memory_term) d group by owner_ref
     ) c where c.owner_ref = o.id`,
  );
}
