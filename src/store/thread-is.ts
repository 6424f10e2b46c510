import sql, { type Sql } from "sql-template-tag";
import { isId, type ScopeColumns } from "./scope-columns.js";

/** Whether the row `t` of `thread` is this one, in the form of its index. */
export function threadIs(tenantId: string | Sql, threadId: string | Sql | null): Sql {
  return sql`${isId(sql`t.tenant_id`, tenantId)} and ${isId(sql`t.thread_id`, threadId)}`;
}

/**
 * Whether the row `t` of `thread` is the one named, and a memory of this scope may name it as where it was learned: one
 * of its user's, or where it has no user its app's own. A memory of an app is everybody's in the app, and names no
 * user's thread.
 */
export function isSourceThread(
  memory: Readonly<Record<keyof ScopeColumns, string | Sql>>,
  threadId: string | Sql | null,
): Sql {
  const { tenantId, userId, appId } = memory;
  return sql`${threadIs(tenantId, threadId)} and t.user_id = ${userId} and (t.user_id <> '' or t.app_id = ${appId})`;
}

/** `column` of a memory to insert, which tells of its thread `t`: null where an app's memory may not name that. */
export function ofSource(column: Sql, userId: string | Sql): Sql {
  return sql`case when ${userId} <> '' or t.id is not null then ${column} end`;
}
