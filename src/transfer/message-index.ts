import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { lexemes } from "../postgres/lexemes.js";
import type { OwnerRef } from "../scope/scope.js";
import type { ScopeColumns } from "../scope/scope-predicates.js";

/** The locked owner that imported lines get. */
export interface ImportTarget extends ScopeColumns {
  readonly ownerRef: OwnerRef;
}

/** CTEs that index and count the inserted messages. */
export function messageIndex(db: Connection, { ownerRef }: ImportTarget): Sql {
  const { schema } = db;
  return sql`,
    fresh as (
      select a.thread_ref, i.* from input i
      join ${schema}.thread t on t.thread_id = i."threadId" and t.owner_ref = ${ownerRef}
      join added a on a.thread_ref = t.id and a.seq = i.seq
    ),
    term as (
      select f.thread_ref, f.seq, w.lexeme, w.frequency, sum(w.frequency) over (partition by f.thread_ref, f.seq) as length
      from fresh f cross join lateral ${lexemes(db, sql`f.terms`)} w
    ),
    indexed as (
      insert into ${schema}.message_term (owner_ref, lexeme, thread_ref, seq, frequency, length)
      select ${ownerRef}::bigint, lexeme, thread_ref, seq, frequency, length from term
    ),
    counted as (
      update ${schema}.owner o
      set message_count = o.message_count + (select count(distinct (thread_ref, seq)) from term),
        message_length = o.message_length + (select coalesce(sum(frequency), 0) from term)
      where o.id = ${ownerRef}
    ),
    turns as (
      update ${schema}.thread t set turns = t.turns + f.turns
      from (select thread_ref as ref, count(*) as turns from fresh where role = 'user' group by 1) f
      where t.id = f.ref
    )`;
}
