import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { nobody } from "../domain/thread-id.js";

/** How much was said, over all threads. Reads every message: for people, not for every turn. */
export async function countTranscripts(db: Connection): Promise<{ threads: number; messages: number }> {
  const [row] = await db.query<{ threads: number; messages: number }>(sql`
    select (select count(*)::int from ${db.schema}.thread t where t.tenant_id <> ${nobody.tenantId}) as threads,
      (select count(*)::int from ${db.schema}.message) as messages`);
  return { threads: row?.threads ?? 0, messages: row?.messages ?? 0 };
}
