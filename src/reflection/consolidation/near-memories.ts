import sql from "sql-template-tag";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import { type IndexedWords, type NearRefs, nearByWords } from "./near-words.rule.js";

/** More than are linked, since mere similar wording often ranks first. */
const maxPerMemory = 20;
/** Per statement: takes a second or two with 20,000 memories of an owner and 384 dimensions. */
const memoriesPerStatement = 100;

/**
 * Finds the facts and insights of an owner nearest to each of `refs`, of its kind and app, with a
 * similarity of at least `least`. One statement per 100; memories without a vector in `space` have
 * no neighbours.
 */
export async function findNearMemories(
  db: Connection,
  {
    ownerRef,
    refs,
    space,
    least,
  }: {
    readonly ownerRef: OwnerRef;
    readonly refs: readonly number[];
    readonly space: EmbeddingSpace | null;
    readonly least: number;
  },
): Promise<NearRefs[]> {
  const { schema } = db;
  if (space === null) {
    const words = await findIndexedWords(db, ownerRef);
    return nearByWords(words, { refs: new Set(refs), least, most: maxPerMemory });
  }
  const found: NearRefs[] = [];
  for (let from = 0; from < refs.length; from += memoriesPerStatement) {
    const batch = refs.slice(from, from + memoriesPerStatement);
    // Compares all pairs: an exact search reads all vectors anyway.
    const near = await db.query<NearRefs>(sql`
    with own as materialized (
      select m.ref, m.kind, m.app_id, e.embedding from ${schema}.memory m
      cross join lateral (
        select embedding from ${schema}.memory_embedding
        where space_ref = ${space.ref} and memory_ref = m.ref and active limit 1
      ) e
      where m.owner_ref = ${ownerRef} and m.kind in ('fact', 'insight') and m.state = 'active'
    ),
    near as materialized (
      select p.ref as first, o.ref as second, least(1, -(o.embedding ${space.product} p.embedding)) as similarity
      from own p join own o on o.kind = p.kind and o.app_id = p.app_id and o.ref <> p.ref
      where p.ref = any (${batch}::bigint[])
    )
    select n.first::float8 as first, n.second::float8 as second, n.similarity
    from (
      select *, row_number() over (partition by first order by similarity desc, second) as nth
      from near where similarity >= ${least}
    ) n
    where n.nth <= ${maxPerMemory}`);
    found.push(...near);
  }
  return found;
}

/** For a comparison in code: joins take a hundred times as long. */
async function findIndexedWords(
  { query, schema }: Connection,
  ownerRef: OwnerRef,
): Promise<IndexedWords[]> {
  return query<IndexedWords>(sql`
    select m.ref::float8 as ref, json_build_array(m.kind, m.app_id)::text as "group",
      json_object_agg(t.lexeme, t.frequency) as words
    from ${schema}.memory m join ${schema}.memory_term t on t.memory_ref = m.ref
    where m.owner_ref = ${ownerRef} and m.kind in ('fact', 'insight') and m.state = 'active'
    group by m.ref`);
}
