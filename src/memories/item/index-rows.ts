import sql, { type Sql } from "sql-template-tag";
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
