import sql, { empty, type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import type { LifecycleOptions } from "../options.js";
import { ownerIs } from "./owner-is.js";
import { ownerColumns, scopeOf } from "./scope-columns.js";

/** An owner with memories to forget or to purge. */
export interface LifecycleOwner {
  readonly ref: number;
  readonly scope: Scope;
}

/** Rows looked at for each owner wanted: the memories of one owner tend to age together. */
const rowsPerOwner = 50;

/**
 * Owners some of whose memories are to be forgotten by age or purged now, at most `limit`.
 *
 * In the order of the indexes: without it, a planner that expects many rows reads the table until it has a page.
 *
 * @param input.scope only its user, or its app where there is no user.
 */
export async function findLifecycleOwners(
  db: Connection,
  input: { options: LifecycleOptions; limit: number; scope?: Scope | undefined },
): Promise<LifecycleOwner[]> {
  const { schema } = db;
  const rows = await db.query<{ ref: string; tenant_id: string; user_id: string; app_id: string }>(sql`
    with due as (
      (select m.owner_ref from ${schema}.memory m where ${isAged(db, input.options)} ${ofOwner(db, input.scope)}
        order by m.importance, m.accessed_on limit ${input.limit * rowsPerOwner})
      union all
      (select m.owner_ref from ${schema}.memory m where ${isDueForPurge(db)} ${ofOwner(db, input.scope)}
        order by m.purge_at limit ${input.limit * rowsPerOwner})
    )
    select o.id as ref, o.tenant_id, o.user_id, o.app_id
    from (select distinct owner_ref from due limit ${input.limit}) d
    cross join lateral (select * from ${schema}.owner where id = d.owner_ref limit 1) o`);
  return rows.map((row) => ({ ref: Number(row.ref), scope: scopeOf(row) }));
}

/**
 * Whether the memory `m` is to be forgotten by age: neither said nor recalled for long, not important, not pinned.
 *
 * Notes are bounded by their number, and procedures were asked for: neither is forgotten by age.
 */
export function isAged(db: Connection, { unusedAfterMs, importanceBelow }: LifecycleOptions): Sql {
  const since = sql`(${db.now()} - ${unusedAfterMs}::float8 * interval '1 millisecond')`;
  // The day is what is indexed; the time decides.
  return sql`m.state = 'active' and not m.pinned and m.kind in ('fact', 'insight', 'episode')
    and m.importance < ${importanceBelow}::real
    and m.accessed_on <= (${since} at time zone 'UTC')::date and m.last_accessed_at < ${since}`;
}

/** Whether the memory `m` can no longer be restored. */
export function isDueForPurge(db: Connection): Sql {
  return sql`m.state = 'soft_deleted' and m.purge_at <= ${db.now()}`;
}

function ofOwner(db: Connection, scope: Scope | undefined): Sql {
  if (!scope) return empty;
  return sql`and m.owner_ref = (select o.id from ${db.schema}.owner o where ${ownerIs(ownerColumns(scope))})`;
}
