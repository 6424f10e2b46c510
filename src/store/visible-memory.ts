import sql, { raw, type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { MemoryKind } from "../domain/memory.js";
import type { StoreFilter } from "../domain/memory-filter.js";
import type { Scope } from "../domain/scope.js";
import { scopeColumns } from "./scope-columns.js";

/** Which memories a search may return. */
export interface VisibleMemories {
  readonly scope: Scope;
  readonly kinds: readonly MemoryKind[];
  readonly categories: readonly string[];
  readonly filter: StoreFilter;
}

/**
 * CTE `wanted`, of one row, with which memories are. Said once, as each condition is asked in many places; and its text
 * is the same for all filters: a session keeps the plan of every text there is.
 */
export function wantedMemories({ scope, kinds, categories, filter }: VisibleMemories): Sql {
  const { appId } = scopeColumns(scope);
  const { agentId, runId, actorId, role, category, pinned } = filter;
  return sql`
    wanted as materialized (
      select ${appId}::text as app_id, ${kinds}::text[] as kinds, ${categories}::text[] as categories,
        ${agentId}::text as agent_id, ${runId}::text as run_id, ${actorId}::text as actor_id, ${role}::text as role,
        ${category}::text as category, ${pinned}::boolean as pinned,
        ${filter.importanceMin}::real as importance_min, ${filter.importanceMax}::real as importance_max,
        ${filter.updatedAfter}::timestamptz as updated_after, ${filter.updatedBefore}::timestamptz as updated_before
    )`;
}

/** Whether the row `m` of `memory` is active, of this user or app, and as the row `w` of `wanted` says. */
export const visible: Sql = sql`(
  m.state = 'active' and m.app_id in ('', w.app_id)
  and m.kind = any (w.kinds) and m.category = any (w.categories)
  and (w.agent_id is null or m.agent_id = w.agent_id)
  and (w.run_id is null or m.run_id = w.run_id)
  and (w.actor_id is null or m.actor_id = w.actor_id)
  and (w.role is null or m.role = w.role)
  and (w.category is null or m.category = w.category)
  and (w.pinned is null or m.pinned = w.pinned)
  and (w.importance_min is null or m.importance >= w.importance_min)
  and (w.importance_max is null or m.importance <= w.importance_max)
  and (w.updated_after is null or m.updated_at >= w.updated_after)
  and (w.updated_before is null or m.updated_at < w.updated_before)
)`;

/**
 * CTE `<name>`: of `<name>_top` (ref, value), the `limit` best whose memories are visible. Memories are looked up one by
 * one, best first, until there are enough.
 */
export function bestVisible(db: Connection, name: string, limit: number): Sql {
  return sql`
    ${raw(name)} as materialized (
      select t.ref, t.value
      from (select ref, value from ${raw(name)}_top order by value desc, ref) t
      cross join wanted w
      cross join lateral (select from ${db.schema}.memory m where m.ref = t.ref and ${visible} limit 1) m
      order by t.value desc, t.ref
      limit ${limit}
    )`;
}
