import sql from "sql-template-tag";
import { sweepWork, type Worker } from "../jobs/background-work.js";
import type { Connection } from "../postgres/connection.js";

/** Rows deleted in one statement, so that no lock lasts long. */
const atOnce = 1_000;

/** Every hour is often enough: what has expired is found by nobody. */
const intervalMs = 3_600_000;

/** Upkeep that deletes what has expired. */
export function createStoreSweep(db: Connection): Worker {
  return sweepWork("items", {
    ...{ intervalMs, name: "Expired items of the store", run: () => sweepItems(db) },
  });
}

/** Deletes the items of all scopes that have expired. Those that somebody is writing at the moment are left for the next time. */
async function sweepItems(db: Connection): Promise<void> {
  for (;;) {
    const rows = await db.query(sql`
      delete from ${db.schema}.store_item d
      where d.ref = any (array(
        select i.ref from ${db.schema}.store_item i where i.expires_at <= ${db.now()}
        order by i.expires_at limit ${atOnce} for update skip locked
      ))
      returning 1`);
    if (rows.length < atOnce) return;
  }
}
