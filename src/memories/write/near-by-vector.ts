import sql, { empty, type Sql } from "sql-template-tag";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";

export const nearestCount = 5;

interface VectorSearch {
  readonly ownerRef: number;
  readonly space: EmbeddingSpace;
  readonly isBatch: boolean;
}

/**
 * Vectors of a first look. A vector knows neither its memory's app nor the memory to exclude: where fewer
 * than `nearestCount` of these fit, all of the owner's are sorted.
 */
const firstLook = 64;

/** CTE `near` (probe, ref, similarity): the owner's nearest memories for each row of the CTE `probe`. */
export function nearByVector(db: Connection, search: VectorSearch): Sql {
  // A batch reads the vectors once.
  return sql`${search.isBatch ? sql`own_vector as materialized (${vectorsOf(db, search)}),` : empty}
  nearest as materialized (
    select p.index as probe, n.ref, n.similarity from probe p ${scan(db, search, sql`limit ${firstLook}`)}
  ),
  sparse as materialized (
    select p.* from probe p
    where (select count(*) from nearest n where n.probe = p.index) < ${nearestCount}
  ),
  near as materialized (
    select * from nearest where probe not in (select index from sparse)
    union all
    select p.index, n.ref, n.similarity from sparse p ${scan(db, search, sql`offset 0`)}
  )`;
}

function vectorsOf({ schema }: Connection, { ownerRef, space }: VectorSearch): Sql {
  return sql`select memory_ref, embedding from ${schema}.memory_embedding
    where owner_ref = ${ownerRef} and space_ref = ${space.ref} and active`;
}

/** Joins to the probe `p` its nearest memories; `cut` limits the vectors that are looked at. */
function scan(db: Connection, search: VectorSearch, cut: Sql): Sql {
  const { space, isBatch } = search;
  return sql`cross join lateral (
      select m.ref, least(1, -e.product) as similarity
      from (
        select memory_ref, embedding ${space.product} p.embedding as product
        from ${isBatch ? sql`own_vector` : sql`(${vectorsOf(db, search)}) own_vector`}
        order by product, memory_ref ${cut}
      ) e cross join lateral (select * from ${db.schema}.memory where ref = e.memory_ref limit 1) m
      where m.app_id = p."appId" and m.state = 'active' and m.id is distinct from p.self
      order by e.product, m.ref limit ${nearestCount}
    ) n`;
}
