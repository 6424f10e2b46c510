import sql, { raw, type Sql } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";

/**
 * CTE that inserts into `memory_source` for the rows (ref, thread_ref, source_seqs) of the CTE
 * `added`.
 */
export function addedSources({ schema }: Connection, added: string): Sql {
  return sql`learned as (
      insert into ${schema}.memory_source (thread_ref, seq, memory_ref)
      select distinct c.thread_ref, cited.seq, c.ref from ${raw(added)} c cross join unnest(c.source_seqs) as cited (seq)
      where c.thread_ref is not null
      on conflict do nothing
    )`;
}

/** The same for updated rows; also deletes sources that they no longer name. */
export function changedSources(db: Connection, changed: string): Sql {
  return sql`unlearned as (
      delete from ${db.schema}.memory_source s using ${raw(changed)} c
      where s.memory_ref = c.ref and (s.thread_ref = c.thread_ref and s.seq = any (c.source_seqs)) is not true
    ),
    ${addedSources(db, changed)}`;
}

/** The time zone of the first message that the memory `m` is from; null without one. */
export const zoneOfSource = ({ schema }: Connection): Sql => sql`(
    select s.time_zone from ${schema}.message s
    where s.thread_ref = m.thread_ref and s.seq = any (m.source_seqs) order by s.seq limit 1
  )`;
