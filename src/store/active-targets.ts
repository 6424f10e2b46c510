import sql, { empty, type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";

/** CTE `target`: the rows of the CTE `input` (id, …) that name active memories of the owner, each with the memory's `ref`. */
export function activeTargets(db: Connection, ownerRef: number): Sql {
  return ownTargets(db, ownerRef, sql`and state = 'active'`);
}

/** The same for memories of the owner in whatever state, or those of which `condition` holds. */
export function ownTargets({ schema }: Connection, ownerRef: number, condition: Sql = empty): Sql {
  return sql`target as materialized (
    -- One by one: joined, they would be looked for among all of the owner's memories.
    select m.ref, i.* from input i cross join lateral (
      select ref from ${schema}.memory where id = i.id and owner_ref = ${ownerRef} ${condition} limit 1
    ) m
  )`;
}
