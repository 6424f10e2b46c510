import sql, { join, type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { ownerIs } from "./owner-is.js";
import { scopeColumns } from "./scope-columns.js";

/** Query for `columns` of the owners `o` whose memories are seen from `scope`: its user and its app, where it names them. */
export function seenOwners(db: Connection, scope: Scope, columns = sql`o.id`): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const owners = [
    ...(userId === "" ? [] : [{ tenantId, userId, appId: "" }]),
    ...(appId === "" ? [] : [{ tenantId, userId: "", appId }]),
  ];
  // One lookup each: a condition with "or" would read all owners there are.
  return join(
    owners.map((owner) => sql`select ${columns} from ${db.schema}.owner o where ${ownerIs(owner)}`),
    " union all ",
  );
}
