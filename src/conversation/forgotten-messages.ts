import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { isId } from "../scope/scope-predicates.js";

/**
 * Rows (thread_ref, seq, wholly): the messages of `owners`, a relation with their `id`, from which facts were learned
 * that were removed on request, the requests, and the answers to both. `wholly`: no other active fact came from there.
 *
 * From the audit trail, so also after the purge; neither ageing nor merging is a request. By `history_removed`.
 */
export function forgottenMessages({ schema }: Connection, owners: Sql): Sql {
  return sql`
      select turn.thread_ref, turn.seq, bool_and(not exists (
          select from ${schema}.memory_source s
          cross join lateral (select * from ${schema}.memory where ref = s.memory_ref limit 1) m
          where s.thread_ref = turn.thread_ref and s.seq in (turn.start, turn.seq)
            and m.kind = 'fact' and m.state = 'active'
        )) as wholly
      from (
        select t.id as thread_ref, cited.seq::integer as start, m.seq
        from ${owners} o
        join ${schema}.history h
          on h.owner_ref = o.id and h.event = 'DELETE' and h.new ->> 'state' = 'soft_deleted'
        cross join lateral (
          select e.new #>> '{source,threadId}' as thread_id, e.new #> '{source,seqs}' as seqs
          from ${schema}.history e where e.memory_id = h.memory_id and e.new #> '{source,seqs}' is not null
          union all
          select h.new #>> '{evidence,threadId}', jsonb_build_array(h.new #> '{evidence,seq}')
          where h.new #> '{evidence,seq}' is not null
        ) told
        join ${schema}.thread t on t.owner_ref = o.id and ${isId(sql`t.thread_id`, sql`told.thread_id`)}
        cross join lateral jsonb_array_elements_text(told.seqs) as cited (seq)
        join ${schema}.message m on m.thread_ref = t.id and m.seq >= cited.seq::integer and m.seq < coalesce((
          select min(n.seq) from ${schema}.message n
          where n.thread_ref = t.id and n.role = 'user' and n.seq > cited.seq::integer
        ), 'infinity'::float8)
        -- Restored or reverted since.
        where not exists (
          select from ${schema}.history r
          where r.memory_id = h.memory_id and r.id > h.id and r.event <> 'DELETE' and r.old ->> 'state' = 'soft_deleted'
        )
      ) turn
      group by turn.thread_ref, turn.seq`;
}
