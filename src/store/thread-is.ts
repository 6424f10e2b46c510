import sql, { type Sql } from "sql-template-tag";

/** Whether the row `t` of `thread` is this one, in the form of its index: of hashes, since ids may be of any length. */
export function threadIs(tenantId: string | Sql, threadId: string | Sql | null): Sql {
  return sql`md5(t.tenant_id) = md5(${tenantId}) and t.tenant_id = ${tenantId}
    and md5(t.thread_id) = md5(${threadId}) and t.thread_id = ${threadId}`;
}
