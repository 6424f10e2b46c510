import type { TestDatabase } from "./test-database.js";

/**
 * The broken invariants of the tables: counters, revisions, indexed memories, sources, transcripts,
 * consents.
 */
export async function brokenInvariants({
  pool,
  schema,
}: TestDatabase): Promise<{ broken: string; user: string }[]> {
  const { rows } = await pool.query<{ broken: string; user: string }>(`
    with active as (
      select m.owner_ref, count(*) as memories from "${schema}".memory m where m.state = 'active' group by 1
    ),
    indexed as (
      select owner_ref, sum(length) as length from (
        select t.owner_ref, max(t.length) as length from "${schema}".memory_term t group by 1, t.memory_ref
      ) d group by 1
    ),
    changes as (
      select owner_ref, count(*) as changes, max(rev) as latest from "${schema}".change_log group by 1
    ),
    recorded as (
      select owner_ref, count(distinct (thread_ref, seq)) as messages from "${schema}".message_term group by 1
    )
    select 'memory_count' as broken, o.user_id as "user" from "${schema}".owner o left join active on owner_ref = o.id
      where o.memory_count <> coalesce(memories, 0)
    union all
    select 'memory_length', o.user_id from "${schema}".owner o left join indexed on owner_ref = o.id
      where o.memory_length <> coalesce(length, 0)
    union all
    select 'revision', o.user_id from "${schema}".owner o left join changes on owner_ref = o.id
      where o.revision <> o.changes_trimmed_to + coalesce(changes, 0) or o.revision <> coalesce(latest, o.changes_trimmed_to)
    union all
    select 'message_count', o.user_id from "${schema}".owner o left join recorded on owner_ref = o.id
      where o.message_count <> coalesce(messages, 0)
    union all
    select 'hidden but indexed', m.user_id from "${schema}".memory m
      join "${schema}".memory_term t on t.memory_ref = m.ref where m.state <> 'active'
    union all
    select 'active but not indexed', m.user_id from "${schema}".memory m
      where m.state = 'active' and not exists (select from "${schema}".memory_term t where t.memory_ref = m.ref)
    union all
    select 'memory without history', m.user_id from "${schema}".memory m
      where not exists (select from "${schema}".history h where h.memory_id = m.id and h.event = 'ADD')
    union all
    select 'sources', m.user_id from "${schema}".memory m
      where array(select distinct s from unnest(m.source_seqs) s where m.thread_ref is not null order by s)
        <> array(
          select s.seq from "${schema}".memory_source s
          where s.memory_ref = m.ref and s.thread_ref = m.thread_ref order by s.seq
        )
    union all
    select 'source of another thread', m.user_id from "${schema}".memory m
      join "${schema}".memory_source s on s.memory_ref = m.ref where s.thread_ref is distinct from m.thread_ref
    union all
    select 'gap in a transcript', t.user_id from "${schema}".thread t
      where (select count(*) from "${schema}".message m where m.thread_ref = t.id)
        <> (select coalesce(max(seq) + 1, 0) from "${schema}".message m where m.thread_ref = t.id)
    union all
    select 'turns of a thread', t.user_id from "${schema}".thread t
      where t.turns <> (select count(*) from "${schema}".message m where m.thread_ref = t.id and m.role = 'user')
    union all
    select 'approved without a memory', c.user_id from "${schema}".consent_request c
      where c.status = 'approved' and not exists (select from "${schema}".memory m where m.id = c.memory_id)`);
  return rows;
}
