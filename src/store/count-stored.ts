import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { MemoryKind, MemoryLifecycle } from "../domain/memory.js";
import type { ThreadTask } from "./claim-thread-task.js";

/** How much there is, over all scopes. */
export interface StoredCounts {
  readonly threads: number;
  readonly messages: number;
  readonly memories: readonly {
    readonly kind: MemoryKind;
    readonly state: MemoryLifecycle;
    readonly count: number;
  }[];
  readonly deadLetters: readonly { readonly task: ThreadTask; readonly count: number }[];
}

/** Counts what is stored. One round trip; it reads every row. */
export async function countStored(db: Connection): Promise<StoredCounts> {
  const { schema } = db;
  const [row] = await db.query<{ counts: StoredCounts }>(sql`
    select json_build_object(
      'threads', (select count(*) from ${schema}.thread),
      'messages', (select count(*) from ${schema}.message),
      'memories', (
        select coalesce(json_agg(m order by m.kind, m.state), '[]')
        from (select kind, state, count(*) as count from ${schema}.memory group by kind, state) m
      ),
      'deadLetters', (
        select coalesce(json_agg(d order by d.task), '[]')
        from (select task, count(*) as count from ${schema}.dead_letter group by task) d
      )
    ) as counts`);
  return (row as { counts: StoredCounts }).counts;
}
