import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { isId } from "../scope/scope-predicates.js";

/**
 * Rows (thread_ref, seq, wholly): the messages of `owners`, a relation with their `id`, from which facts were learned
 * that were removed on request, the requests, and the answers to both. `wholly`: no other active fact came from there.
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
        select cited.thread_ref, cited.seq as start, m.seq
        from ${owners} o
        join ${schema}.history h
          on h.owner_ref = o.id and h.event = 'DELETE' and h.new ->> 'state' = 'soft_deleted'
        join ${schema}.memory f on f.id = h.memory_id and f.kind = 'fact' and f.state = 'soft_deleted'
        cross join lateral (
          select f.thread_ref, unnest(f.source_seqs) as seq
          union all
          select t.id, (h.new #>> '{evidence,seq}')::integer from ${schema}.thread t
          where t.owner_ref = o.id and ${isId(sql`t.thread_id`, sql`h.new #>> '{evidence,threadId}'`)}
            and h.new #> '{evidence,seq}' is not null
        ) cited
        join ${schema}.message m on m.thread_ref = cited.thread_ref and m.seq >= cited.seq and m.seq < coalesce((
          select min(n.seq) from ${schema}.message n
          where n.thread_ref = cited.thread_ref and n.role = 'user' and n.seq > cited.seq
        ), 'infinity'::float8)
      ) turn
      group by turn.thread_ref, turn.seq`;
}

/** Whether the message `m` of a thread may be material: it was not learned from alone what is forgotten. */
export function isMaterial(db: Connection, threadRef: number | Sql): Sql {
  const owners = sql`(select owner_ref as id from ${db.schema}.thread where id = ${threadRef})`;
  return sql`m.seq <> all (array(
        select f.seq from (${forgottenMessages(db, owners)}) f where f.thread_ref = ${threadRef} and f.wholly
      ))`;
}
