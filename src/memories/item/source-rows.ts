import sql, { raw, type Sql } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";

/**
 * CTEs that keep `memory_source` as the rows of the CTE `changed` (ref, thread_ref, source_seqs) say: from which messages each memory
 * was learned.
 */
export function sourceRows({ schema }: Connection, changed: string): Sql {
  return sql`
    unlearned as (
      delete from ${schema}.memory_source s using ${raw(changed)} c
      where s.memory_ref = c.ref and (s.thread_ref = c.thread_ref and s.seq = any (c.source_seqs)) is not true
    ),
    learned as (
      insert into ${schema}.memory_source (thread_ref, seq, memory_ref)
      select distinct c.thread_ref, cited.seq, c.ref from ${raw(changed)} c cross join unnest(c.source_seqs) as cited (seq)
      where c.thread_ref is not null
      on conflict do nothing
    )`;
}
