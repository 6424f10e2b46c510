import sql from "sql-template-tag";
import type { ThreadTask } from "../jobs/thread-task.js";
import type { MemoryKind, MemoryLifecycle } from "../memories/item/memory.js";
import type { Connection } from "../postgres/connection.js";

/** How much was learned, and how much of the work on it was given up, over all scopes. */
export interface MemoryCounts {
  readonly memories: readonly {
    readonly kind: MemoryKind;
    readonly state: MemoryLifecycle;
    readonly count: number;
  }[];
  readonly deadLetters: readonly { readonly task: ThreadTask; readonly count: number }[];
}

/** Counts memories by kind and state, and dead letters by task. Reads every memory: for people, not for every turn. */
export async function countMemories(db: Connection): Promise<MemoryCounts> {
  const [row] = await db.query<{ counts: MemoryCounts }>(sql`
    select json_build_object(
      'memories', (
        select coalesce(json_agg(m order by m.kind, m.state), '[]')
        from (select kind, state, count(*) as count from ${db.schema}.memory group by kind, state) m
      ),
      'deadLetters', (
        select coalesce(json_agg(d order by d.task), '[]')
        from (select task, count(*) as count from ${db.schema}.dead_letter group by task) d
      )
    ) as counts`);
  return row?.counts ?? { memories: [], deadLetters: [] };
}
