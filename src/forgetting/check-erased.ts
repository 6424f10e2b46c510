import sql, { join, type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { scopeOf } from "../scope/scope-predicates.js";
import type { ErasureRow } from "./erasure-log.js";
import { countRows, type RowCounts, totalOf } from "./erasure-tables.js";
import { previewForget } from "./preview-forget.js";
import { type ErasureCheck, idHmacOf } from "./receipt.rule.js";

/** Asks the database now what it has of an erased id. */
export async function checkErased(
  db: Connection,
  row: ErasureRow,
  { idKey, now }: { readonly idKey: string | undefined; readonly now: Date },
): Promise<ErasureCheck> {
  const at = now.toISOString();
  if (row.idHmac !== null && idKey !== undefined) {
    const found = await findErased(db, row, idKey);
    const left = found ? (await previewForget(db, found, null)).removed : {};
    const all = { ...(await countReferences(db, row)), ...left };
    return { at, by: "id", left: all, passed: totalOf(all) === 0 };
  }
  // The owner of a part of a user stays.
  if (row.kind === "user_in_app") return { at, by: "nothing", left: {}, passed: null };
  const left = await countReferences(db, row);
  return { at, by: "references", left, passed: totalOf(left) === 0 };
}

/** Tables that name users and apps themselves. */
const naming = ["owner", "thread", "event", "usage", "store_item"] as const;

/** The scope whose HMAC the row has, if any row is there that names it. */
async function findErased(
  db: Connection,
  { tenantId, kind, idHmac }: ErasureRow,
  idKey: string,
): Promise<Scope | undefined> {
  const { schema } = db;
  const columns: Readonly<Record<ErasureRow["kind"], Sql>> = {
    user: sql`x.user_id, '' as app_id`,
    user_in_app: sql`x.user_id, x.app_id`,
    app: sql`'' as user_id, x.app_id`,
  };
  const named: Readonly<Record<(typeof naming)[number], Sql>> = {
    owner: sql`${schema}.owner`,
    thread: sql`${schema}.thread`,
    event: sql`${schema}.event`,
    usage: sql`${schema}.usage`,
    store_item: sql`${schema}.store_item`,
  };
  const parts = naming.map(
    (table) => sql`select ${columns[kind]} from ${named[table]} x where x.tenant_id = ${tenantId}`,
  );
  const rows = await db.query<{ user_id: string; app_id: string }>(join(parts, " union "));
  return rows
    .map((row) => scopeOf({ tenant_id: tenantId, ...row }))
    .find((scope) => idHmacOf(idKey, scope) === idHmac);
}

/** Rows that refer to the deleted owner, by table. */
async function countReferences(db: Connection, { ownerWas, kind }: ErasureRow): Promise<RowCounts> {
  if (ownerWas === null || kind === "user_in_app") return {};
  const referring = ["memory", "thread", "history", "change_log", "consent_request"];
  referring.push("compared_pair", "work", "note_source");
  return countRows(
    db,
    referring.map((table) => ({ table, rows: sql`x.owner_ref = ${ownerWas}::bigint` })),
  );
}
