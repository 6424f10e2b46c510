import sql, { join, raw } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { idHmacOf } from "../../scope/id-hmac.rule.js";
import type { Scope } from "../../scope/scope.js";
import { type ScopeRow, scopeOf } from "../../scope/scope-predicates.js";
import type { ErasureRow } from "./erasure-log.js";
import { countRows, inTables, type RowCounts, totalOf } from "./erasure-tables.js";
import { previewForget } from "./preview-forget.js";
import type { ErasureCheck } from "./receipt.rule.js";

/** Asks the database now what it has of an erased id. */
export async function checkErased(
  db: Connection,
  row: ErasureRow,
  { idKey, now }: { readonly idKey: string | undefined; readonly now: Date },
): Promise<ErasureCheck> {
  const at = now.toISOString();
  const left = await countReferences(db, row);
  if (row.idHmac !== null && idKey !== undefined) {
    const found = await findErased(db, row, idKey);
    if (found) Object.assign(left, (await previewForget(db, found, null)).removed);
    return { at, by: "id", left, passed: totalOf(left) === 0 };
  }
  // The owner of a part of a user stays.
  if (row.kind === "user_in_app") return { at, by: "nothing", left, passed: null };
  return { at, by: "references", left, passed: totalOf(left) === 0 };
}

/** Tables that name users and apps themselves. */
const naming = ["owner", "thread", "event", "usage", "store_item"];

/** The scope whose HMAC the row has, if any row is there that names it. */
async function findErased(
  db: Connection,
  { tenantId, kind, idHmac }: ErasureRow,
  idKey: string,
): Promise<Scope | undefined> {
  const ids = {
    user: sql`x.tenant_id, x.user_id, '' as app_id`,
    user_in_app: sql`x.tenant_id, x.user_id, x.app_id`,
    app: sql`x.tenant_id, '' as user_id, x.app_id`,
  }[kind];
  // An owner is named for all of its memories, but for no app of a user's.
  const tables = kind === "user_in_app" ? [...naming, "memory"] : naming;
  const parts = tables.map(
    (table) => sql`select ${ids} from ${db.schema}.${raw(table)} x where x.tenant_id = ${tenantId}`,
  );
  const rows = await db.query<ScopeRow>(join(parts, " union "));
  return rows.map(scopeOf).find((scope) => idHmacOf(idKey, scope) === idHmac);
}

/** Rows that refer to the deleted owner, by table. */
async function countReferences(db: Connection, { ownerWas, kind }: ErasureRow): Promise<RowCounts> {
  if (ownerWas === null || kind === "user_in_app") return {};
  const referring = ["memory", "thread", "history", "change_log", "consent_request"];
  referring.push("compared_pair", "work", "note_source");
  return countRows(db, inTables(referring, sql`x.owner_ref = ${ownerWas}::bigint`));
}
