import sql, { empty, type Sql } from "sql-template-tag";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import { nearestCount } from "./held-neighbours.js";

/** Whose vectors are searched, and how. */
interface VectorSearch {
  readonly ownerRef: number | Sql;
  readonly space: EmbeddingSpace;
  /** Whether there are several probes. */
  readonly isBatch: boolean;
  /** Most memories near a probe. @default `nearestCount` */
  readonly most?: number | undefined;
}

/**
 * Vectors looked at before any memory is read. A vector knows neither its memory's app nor who asks for its own
 * neighbours: where too few of these 64 fit, all of the owner's are sorted.
 */
const firstLook = 64;

/** CTE `near` (probe, ref, similarity): the memories of an owner nearest to each row of the CTE `probe`. */
export function nearByVector(db: Connection, search: VectorSearch): Sql {
  return sql`${ownVectors(db, search)}
  nearest as materialized (
    select p.index as probe, n.ref, n.similarity from probe p ${scan(db, search, sql`limit ${firstLook}`)}
  ),
  sparse as materialized (
    select p.* from probe p
    where (select count(*) from nearest n where n.probe = p.index) < ${search.most ?? nearestCount}
  ),
  near as materialized (
    select * from nearest where probe not in (select index from sparse)
    union all
    select p.index, n.ref, n.similarity from sparse p ${scan(db, search, sql`offset 0`)}
  )`;
}

/**
 * The same CTE where the column `near` of `probe` names the memories that were nearest at `tick`, and `"isCut"` says whether
 * there may have been more. Those that changed since are left out, and whatever changed since is compared. So it finds what
 * `nearByVector` finds, and goes through all vectors only where fewer than five of a list that was cut are left.
 */
export function nearToGiven(
  db: Connection,
  tick: number,
  search: VectorSearch & { readonly ownerRef: number },
): Sql {
  const { schema } = db;
  const { ownerRef, space } = search;
  const embedding = (ref: Sql) => sql`cross join lateral (
      select embedding, active from ${schema}.memory_embedding
      where space_ref = ${space.ref} and memory_ref = ${ref} limit 1
    ) e`;
  return sql`${ownVectors(db, search)}
  changed as materialized (
    select m.ref, m.id, m.app_id, e.embedding
    from (${changedSince(db, { ownerRef, tick })}) m ${embedding(sql`m.ref`)}
    where m.state = 'active' and e.active
  ),
  known_near as materialized (
    select p.index as probe, m.ref, e.embedding ${space.product} p.embedding as product, true as stays
    from probe p cross join lateral unnest(p.near) as given (ref)
    cross join lateral (select * from ${schema}.memory where ref = given.ref limit 1) m ${embedding(sql`m.ref`)}
    where m.owner_ref = ${ownerRef} and m.tick <= ${tick} and m.state = 'active' and e.active
      and m.app_id = p."appId" and m.id is distinct from p.self
    union all
    select p.index, c.ref, c.embedding ${space.product} p.embedding, false
    from probe p cross join changed c
    where c.app_id = p."appId" and c.id is distinct from p.self
  ),
  sparse as materialized (
    select p.* from probe p
    where (
      p."isCut" and p.index not in (
        select probe from known_near where stays group by probe having count(*) >= ${nearestCount}
      )
    ) or (select reload_tick > ${tick} from ${schema}.owner where id = ${ownerRef})
  ),
  nearest as materialized (
    select probe, ref, least(1, -product) as similarity,
      row_number() over (partition by probe order by product, ref) as nth
    from known_near
  ),
  near as materialized (
    select probe, ref, similarity from nearest
    where nth <= ${nearestCount} and probe not in (select index from sparse)
    union all
    select p.index, n.ref, n.similarity from sparse p ${scan(db, search, sql`offset 0`)}
  )`;
}

/** The memories of an owner that changed after `tick`, in whatever state. */
export function changedSince(
  { schema }: Connection,
  { ownerRef, tick }: { readonly ownerRef: number; readonly tick: number },
): Sql {
  return sql`select * from ${schema}.memory where owner_ref = ${ownerRef} and tick > ${tick} offset 0`;
}

/** Several are compared with vectors that were read once, and lie next to each other. */
function ownVectors(db: Connection, search: VectorSearch): Sql {
  return search.isBatch ? sql`own_vector as materialized (${vectorsOf(db, search)}),` : empty;
}

function vectorsOf({ schema }: Connection, { ownerRef, space }: VectorSearch): Sql {
  return sql`select memory_ref, embedding from ${schema}.memory_embedding
    where owner_ref = ${ownerRef} and space_ref = ${space.ref} and active`;
}

/** Joins to the probe `p` its nearest memories among the owner's nearest vectors; `cut` says how many of those. */
function scan(db: Connection, search: VectorSearch, cut: Sql): Sql {
  const { space, isBatch, most = nearestCount } = search;
  return sql`cross join lateral (
      select m.ref, least(1, -e.product) as similarity
      from (
        select memory_ref, embedding ${space.product} p.embedding as product
        from ${isBatch ? sql`own_vector` : sql`(${vectorsOf(db, search)}) own_vector`}
        order by product, memory_ref ${cut}
      ) e cross join lateral (select * from ${db.schema}.memory where ref = e.memory_ref limit 1) m
      where m.app_id = p."appId" and m.state = 'active' and m.id is distinct from p.self
      order by e.product, m.ref limit ${most}
    ) n`;
}
