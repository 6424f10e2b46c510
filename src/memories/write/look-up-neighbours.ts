import sql, { type Sql } from "sql-template-tag";
import { type EmbeddingSpace, halfvecs } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { isId, ownerColumns, ownerIs } from "../../scope/scope-predicates.js";
import { type GivenNeighbours, givenCount } from "./held-neighbours.js";
import { nearByVector } from "./near-by-vector.js";
import type { Statement } from "./statement.js";

/** What the database has of an owner near some statements. */
export interface LookedUpNeighbours extends GivenNeighbours {
  /** Whether a memory has the words of any of them, or its slot ever held a value. */
  readonly isTaken: boolean;
}

type Row = {
  readonly ownerRef: number;
  readonly tick: number;
  readonly isTaken: boolean;
  readonly near: readonly (readonly [probe: number, ref: number, id: string, similarity: number])[];
};

/**
 * The memories of the owner of `scope` near each of `sought`, as `findGivenNeighbours` tells it of an owner that is held: one
 * statement, before any lock is taken. Null for an owner of whom nothing was ever written.
 */
export async function lookUpNeighbours(
  db: Connection,
  { scope, space }: { readonly scope: Scope; readonly space: EmbeddingSpace },
  sought: readonly Statement[],
): Promise<LookedUpNeighbours | null> {
  const { schema } = db;
  const probes = sought.map(({ memory: { scope, kind, category, key = null, contentHash } }, index) => {
    return { index, appId: scope.appId ?? "", kind, category, key, contentHash };
  });
  const vectors = sought.map(({ vector }) => vector);
  const ownerRef = sql`(select id from seen)`;
  const [row] = await db.query<Row>(
    sql`
    with seen as materialized (select o.id, o.tick from ${schema}.owner o where ${ownerIs(ownerColumns(scope))}),
    probe as materialized (
      select p.*, null::uuid as self, (${halfvecs(space, vectors)})[p.index + 1] as embedding
      from json_to_recordset(${JSON.stringify(probes)}::json) as p (
        index integer, "appId" text, kind text, category text, key text, "contentHash" text
      )
    ),
    ${nearByVector(db, { ownerRef, space, isBatch: sought.length > 1, most: givenCount })},
    taken as materialized (${takenBy(db, ownerRef, sql`probe i`)})
    select s.id::float8 as "ownerRef", s.tick::float8 as tick, exists (select from taken) as "isTaken", (
      select coalesce(
        json_agg(json_build_array(n.probe, n.ref, m.id, n.similarity) order by n.probe, n.similarity desc, n.ref), '[]'
      )
      from near n cross join lateral (select id from ${schema}.memory where ref = n.ref limit 1) m
    ) as near
    from seen s`,
    { prepare: true },
  );
  if (row === undefined) return null;
  const near = new Map(vectors.flatMap((vector) => (vector === null ? [] : [[vector, [] as Near[]]])));
  for (const [probe, ref, id, similarity] of row.near) {
    near.get(vectors[probe] as Buffer)?.push({ ref, id, similarity });
  }
  return { ...row, near };
}

type Near = NonNullable<ReturnType<GivenNeighbours["near"]["get"]>>[number];

/**
 * A row for each memory of an owner that stands against one of the rows `i` of `from` (kind, category, key, "appId",
 * "contentHash"): it has the same words, or a value of the same slot, be it a closed one.
 */
export function takenBy({ schema }: Connection, ownerRef: number | Sql, from: Sql): Sql {
  const ofOwner = sql`owner_ref = ${ownerRef} and ${isId(sql`app_id`, sql`i."appId"`)}`;
  // A row is looked up by its key first and judged after; each looks into one index.
  return sql`
      select from ${from} cross join lateral (
        select from ${schema}.memory
        where ${ofOwner} and kind = i.kind and content_hash = i."contentHash" and state = 'active' limit 1
      ) m
      union all
      select from ${from} cross join lateral (
        select from ${schema}.memory
        where ${ofOwner} and category = i.category and key = i.key and state = 'active' limit 1
      ) m
      where i.key is not null
      union all
      select from ${from} cross join lateral (
        select from ${schema}.memory
        where ${ofOwner} and category = i.category and key = i.key and state = 'superseded' limit 1
      ) m
      where i.key is not null`;
}
