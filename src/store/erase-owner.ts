import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";

/** Locks an owner's row, so that no memory of it is written until the transaction ends. False when there is none. */
export async function lockOwnerRow(tx: Connection, ownerRef: string): Promise<boolean> {
  const rows = await tx.query(sql`select from ${tx.schema}.owner where id = ${ownerRef} for update`);
  return rows.length > 0;
}

/** Deletes a locked owner that has neither memories nor threads. False when it has some again. */
export async function eraseOwner(tx: Connection, ownerRef: string): Promise<boolean> {
  const rows = await tx.query(sql`
    delete from ${tx.schema}.owner o
    where o.id = ${ownerRef}
      and not exists (select from ${tx.schema}.memory m where m.owner_ref = o.id)
      and not exists (select from ${tx.schema}.thread t where t.owner_ref = o.id)
    returning o.id`);
  return rows.length > 0;
}
