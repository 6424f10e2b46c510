import sql, { raw, type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { scopeColumns } from "./scope-columns.js";
import { seenOwners } from "./seen-owners.js";

/**
 * Whether a row of a memory (`m`), a consent request (`c`) or the audit trail (`h`) can be seen from `scope`: it is the
 * user's own, or of the user within the app, or the app's. Without an app, all of the user's.
 */
export function belongsTo(db: Connection, scope: Scope, row: "m" | "c" | "h"): Sql {
  const { appId } = scopeColumns(scope);
  const owned = sql`${raw(row)}.owner_ref = any (array(${seenOwners(db, scope)}))`;
  return appId === "" ? owned : sql`${owned} and ${raw(row)}.app_id in ('', ${appId})`;
}

/** The same of a memory `m` by its own columns, for statements that look memories up by their ids. */
export function isSeenFrom(scope: Scope): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  return sql`m.tenant_id = ${tenantId} and m.user_id in ('', ${userId})
    and (m.app_id in ('', ${appId}) or (${appId} = '' and m.user_id <> ''))`;
}
