import sql from "sql-template-tag";
import type { EmbeddingSpace } from "../models/embedding-space.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef } from "../scope/scope.js";
import { type IndexedWords, type NearRefs, nearByWords } from "./near-words.rule.js";

/** Per memory: more than are linked, since mere similar wording ranks first as often. */
const nearestCount = 20;
/** Per statement: with 20,000 memories of an owner, and vectors of 384 dimensions, a second or two. */
const atOnce = 100;

/**
 * The facts and insights of an owner nearest to each of `refs`, of its kind and app, with a similarity of at least
 * `least`. One statement per 100; memories without a vector in `space` have no neighbours.
 */
export async function findNearMemories(
  db: Connection,
  input: { ownerRef: OwnerRef; refs: readonly number[]; space: EmbeddingSpace | null; least: number },
): Promise<NearRefs[]> {
  const { ownerRef, refs, space, least } = input;
  if (space === null) {
    const words = await findWords(db, ownerRef);
    return nearByWords(words, { refs: new Set(refs), least, most: nearestCount });
  }
  const found: NearRefs[] = [];
  for (let from = 0; from < refs.length; from += atOnce) {
    found.push(...(await findByVector(db, { ownerRef, refs: refs.slice(from, from + atOnce), space, least })));
  }
  return found;
}

/** All pairs, since an exact search reads all vectors anyway. */
async function findByVector(
  { query, schema }: Connection,
  input: { ownerRef: OwnerRef; refs: readonly number[]; space: EmbeddingSpace; least: number },
): Promise<NearRefs[]> {
  const { ownerRef, refs, space, least } = input;
  return query<NearRefs & Record<string, unknown>>(sql`
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
      where p.ref = any (${refs}::bigint[])
    )
    select n.first::float8 as first, n.second::float8 as second, n.similarity
    from (
      select *, row_number() over (partition by first order by similarity desc, second) as nth
      from near where similarity >= ${least}
    ) n
    where n.nth <= ${nearestCount}`);
}

/** Compared in code: joins take a hundred times as long. */
async function findWords({ query, schema }: Connection, ownerRef: OwnerRef): Promise<IndexedWords[]> {
  return query<IndexedWords & Record<string, unknown>>(sql`
    select m.ref::float8 as ref, json_build_array(m.kind, m.app_id)::text as "group",
      json_object_agg(t.lexeme, t.frequency) as words
    from ${schema}.memory m join ${schema}.memory_term t on t.memory_ref = m.ref
    where m.owner_ref = ${ownerRef} and m.kind in ('fact', 'insight') and m.state = 'active'
    group by m.ref`);
}
