import sql, { raw, type Sql } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { lexemes } from "../../postgres/lexemes.js";
import type { OwnerRef } from "../../scope/scope.js";
import { ofSource } from "../../scope/scope-predicates.js";

/** Source columns of a new memory, from the thread `t`: see `ofSource`. */
export function sourceOf(userId: string | Sql, seqs: Sql, evidence: Sql) {
  return {
    threadId: sql`t.id`,
    sourceSeqs: sql`coalesce(${ofSource(seqs, userId)}, '{}')`,
    evidence: ofSource(evidence, userId),
  };
}

/** Adds the CTEs `added` and `term` to the owner's counts. */
export function countAdded({ schema }: Connection, ownerRef: OwnerRef): Sql {
  return sql`update ${schema}.owner o
    set memory_count = o.memory_count + (select count(*) from added where state = 'active'),
      memory_length = o.memory_length
        + coalesce((select sum(length) from (select max(length) as length from term group by memory_ref) d), 0)
    where o.id = ${ownerRef}`;
}

/** CTE `word` (id, lexeme, frequency, length) of `input` (id, terms). */
export function wordRows(db: Connection): Sql {
  return sql`word as materialized (
      select i.id, w.lexeme, w.frequency, sum(w.frequency) over (partition by i.id) as length
      from input i cross join lateral ${lexemes(db, sql`i.terms`)} w
    )`;
}

/**
 * CTE `term` (memory_ref, length): the index of active memories in `added` (ref, id, state), by
 * `word`.
 */
export function termRows({ schema }: Connection, ownerRef: OwnerRef): Sql {
  return sql`
    term as (
      insert into ${schema}.memory_term (owner_ref, lexeme, memory_ref, frequency, length)
      select ${ownerRef}, word.lexeme, added.ref, word.frequency, word.length
      from added join word on word.id = added.id
      where added.state = 'active'
      returning memory_ref, length
    )`;
}

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
