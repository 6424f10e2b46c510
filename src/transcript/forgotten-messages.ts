import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { isId } from "../scope/scope-predicates.js";

/**
 * Rows (thread_ref, seq, wholly), with duplicates: messages of `owners` (id) that taught facts
 * later removed on request, the requests, and the answers to both. `wholly`: no other active fact
 * comes from it. Reads the audit trail by the index `history_removed`, so also after the purge;
 * ageing and merging are no requests.
 */
export function forgottenMessages({ schema }: Connection, owners: Sql): Sql {
  return sql`
      select t.id as thread_ref, a.seq, turn.wholly
      from ${owners} o
      join ${schema}.history h
        on h.owner_ref = o.id and h.event = 'DELETE' and h.new ->> 'state' = 'soft_deleted'
      cross join lateral (
        select e.new #>> '{source,threadId}' as thread_id, e.new #> '{source,seqs}' as seqs,
          e.new #>> '{source,quote}' as quote, null as message_id
        from ${schema}.history e where e.memory_id = h.memory_id and e.new #> '{source,seqs}' is not null
        union
        select h.new #>> '{evidence,threadId}', jsonb_build_array(h.new #> '{evidence,seq}'),
          null, h.new #>> '{evidence,messageId}'
        where h.new #> '{evidence,threadId}' is not null
      ) taught
      -- One by one: a join would hash all threads for each.
      cross join lateral (
        select t.id from ${schema}.thread t where ${isId(sql`t.thread_id`, sql`taught.thread_id`)} and t.owner_ref = o.id
        limit 1
      ) t
      cross join lateral (
        select c.seq::integer as first, (
            select true from ${schema}.memory_source s
            cross join lateral (select * from ${schema}.memory where ref = s.memory_ref limit 1) m
            where s.thread_ref = t.id and s.seq = c.seq::integer and m.kind = 'fact' and m.state = 'active' limit 1
          ) is null as wholly
        from (
          select jsonb_array_elements_text(taught.seqs)
          union all
          (select m.seq::text from ${schema}.message m where m.thread_ref = t.id and m.message_id = taught.message_id limit 1)
          union all
          -- What an agent wrote in mid-turn has no seq yet.
          select m.seq::text from ${schema}.message m
          where taught.seqs = '[]' and m.thread_ref = t.id and m.role = 'user' and strpos(m.content, taught.quote) > 0
        ) c (seq)
        where c.seq is not null offset 0
      ) turn
      cross join lateral (
        select min(m.seq) as seq from ${schema}.message m
        where m.thread_ref = t.id and m.role = 'user' and m.seq > turn.first
      ) next
      cross join lateral (
        select m.seq from ${schema}.message m
        where m.thread_ref = t.id and m.seq >= turn.first and m.seq < coalesce(next.seq, 2147483647) offset 0
      ) a
      -- Restored or reverted since.
      where not exists (
        select from ${schema}.history r
        where r.memory_id = h.memory_id and r.id > h.id and r.event <> 'DELETE' and r.old ->> 'state' = 'soft_deleted'
      )`;
}

/** False for a message `m` whose facts were all forgotten. */
export function isMaterial(db: Connection, threadRef: number | Sql): Sql {
  const owners = sql`(select owner_ref as id from ${db.schema}.thread where id = ${threadRef})`;
  return sql`m.seq <> all (array(
        select f.seq from (${forgottenMessages(db, owners)}) f where f.thread_ref = ${threadRef} and f.wholly
      ))`;
}
