import sql from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";

/** Rows per statement, so that locks are short. */
const sweptRows = 1_000;

/** Deletes expired items of all scopes. Skips locked ones. */
export async function sweepItems(db: Connection): Promise<void> {
  for (;;) {
    const rows = await db.query(sql`
      delete from ${db.schema}.store_item d
      where d.ref = any (array(
        select i.ref from ${db.schema}.store_item i where i.expires_at <= ${db.now()}
        order by i.expires_at limit ${sweptRows} for update skip locked
      ))
      returning 1`);
    if (rows.length < sweptRows) return;
  }
}
