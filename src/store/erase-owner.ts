import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { type ErasureScope, hasMemory, hasScope } from "./erasure-scope.js";

/** Locks an owner's row, so that no memory of it is written until the transaction ends. False when there is none. */
export async function lockOwnerRow(tx: Connection, ownerRef: string): Promise<boolean> {
  const rows = await tx.query(sql`select from ${tx.schema}.owner where id = ${ownerRef} for update`);
  return rows.length > 0;
}

/** Whether the scope has neither memories nor threads: none again that were written while others of it went. */
export async function isErased(tx: Connection, scope: ErasureScope): Promise<boolean> {
  const [row] = await tx.query<{ left: boolean }>(sql`
    select exists (select from ${tx.schema}.memory x where ${hasMemory(tx, scope)})
      or exists (select from ${tx.schema}.thread x where ${hasScope(scope)}) as left`);
  return row?.left === false;
}

/** Deletes the locked owner of a scope that is all of it, and has neither memories nor threads. Returns how many that were. */
export async function eraseOwner(tx: Connection, { ownerRef, whole }: ErasureScope): Promise<number> {
  if (!whole) return 0;
  const rows = await tx.query(sql`
    delete from ${tx.schema}.owner o
    where o.id = ${ownerRef}::bigint
      and not exists (select from ${tx.schema}.memory m where m.owner_ref = o.id)
      and not exists (select from ${tx.schema}.thread t where t.owner_ref = o.id)
    returning o.id`);
  return rows.length;
}
