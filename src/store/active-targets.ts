import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";

/** CTE `target`: the rows of the CTE `input` (id, …) that name active memories of the owner, each with the memory's `ref`. */
export function activeTargets({ schema }: Connection, ownerRef: number): Sql {
  return sql`target as materialized (
    -- One by one: joined, they would be looked for among all of the owner's memories.
    select m.ref, i.* from input i cross join lateral (
      select ref from ${schema}.memory where id = i.id and owner_ref = ${ownerRef} and state = 'active' limit 1
    ) m
  )`;
}
