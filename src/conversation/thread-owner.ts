import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { ownerColumns, ownerIs, scopeColumns, threadIs } from "../scope/scope-predicates.js";

/** What an owner counts, where it begins with something. */
interface OwnerCounts {
  readonly turns: Sql;
  readonly messages: Sql;
  readonly messageLength: Sql;
}

const nothingYet: OwnerCounts = { turns: sql`0`, messages: sql`0`, messageLength: sql`0` };

/**
 * CTEs that find a thread and the owner of its scope, and make the owner where it is new:
 * `known_thread (id, owned)`, `known_owner (id, revision)` and `its_owner (id, revision)`, which is empty when another
 * makes the same owner at the moment. A thread of another scope (`not owned`) makes no owner.
 */
export function threadAndOwner(
  db: Connection,
  { scope, threadId }: { readonly scope: Scope; readonly threadId: string },
  counts: OwnerCounts = nothingYet,
): Sql {
  const { schema } = db;
  const { tenantId, userId, appId } = scopeColumns(scope);
  const owner = ownerColumns(scope);
  return sql`
    known_thread as (
      select t.id, t.user_id = ${userId} and t.app_id = ${appId} as owned
      from ${schema}.thread t where ${threadIs(tenantId, threadId)}
    ),
    known_owner as (
      select o.id, o.revision from ${schema}.owner o where ${ownerIs(owner)}
    ),
    new_owner as (
      insert into ${schema}.owner (tenant_id, user_id, app_id, turns, message_count, message_length)
      select ${tenantId}, ${userId}, ${owner.appId}, ${counts.turns}, ${counts.messages}, ${counts.messageLength}
      where not exists (select from known_owner) and not exists (select from known_thread where not owned)
      on conflict do nothing
      returning id, revision
    ),
    its_owner as (
      select id, revision from known_owner union all select id, revision from new_owner
    )`;
}
