import sql, { type Sql } from "sql-template-tag";
import { isId } from "./scope-columns.js";

/** Whether the row `t` of `thread` is this one, in the form of its index. */
export function threadIs(tenantId: string | Sql, threadId: string | Sql | null): Sql {
  return sql`${isId(sql`t.tenant_id`, tenantId)} and ${isId(sql`t.thread_id`, threadId)}`;
}
