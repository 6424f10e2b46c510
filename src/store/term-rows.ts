import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";

/**
 * CTEs `term` (memory_ref, length) and `actor_term`, which index the active memories of the CTE `added` (ref, id, state)
 * by the words of `input` (id, terms, "actorTerms").
 */
export function termRows(
  db: Connection,
  { ownerRef, language }: { readonly ownerRef: number; readonly language: string },
): Sql {
  const { schema } = db;
  return sql`
    term as (
      insert into ${schema}.memory_term (owner_ref, lexeme, memory_ref, frequency, length)
      select ${ownerRef}, v.lexeme, added.ref, least(coalesce(cardinality(v.positions), 1), 32767),
        sum(coalesce(cardinality(v.positions), 1)) over (partition by added.ref)
      from added join input i on i.id = added.id
      cross join lateral unnest(to_tsvector(${language}::regconfig, i.terms)) v
      where added.state = 'active'
      returning memory_ref, length
    ),
    actor_term as (
      insert into ${schema}.memory_term (owner_ref, lexeme, memory_ref, frequency, length)
      select distinct ${ownerRef}::bigint, '@' || word, added.ref, 1, 1
      from added join input i on i.id = added.id
      cross join lateral regexp_split_to_table(i."actorTerms", '\\s+') word
      where added.state = 'active' and word <> ''
    )`;
}
