-- The statement of a recall where the process holds the owners that it sees, with its values by name, and with embeddings.
-- The function `pulse` stands in migrations/0026_conversation.sql. Made by recall-sql.test.ts from what
-- src/rounds/pulse-statement.ts composes; nothing reads it but people.
select p.conversation, p.revision, p.trimmed_to, p.change_count, p.changes, p.consents,
p.broad, p.lexemes, p.named, p.owners, (date_part('epoch', now()) * 1000)::float8 as now,
-- The memories that changed, each with its owner.
(
  select json_agg(json_build_array(c.owner_ref, (
        select json_build_object(
          'ref', m.ref, 'active', m.state = 'active',
          'thread', case when m.state = 'active' then m.thread_ref end,
          'memory', case when m.state = 'active' then json_build_array(m.id, m.kind, m.category, m.key, m.value, m.content, m.importance, m.confidence, m.pinned, case when m.state = 'active' and not (m.expires_at is null or m.expires_at > now()) then 'soft_deleted' else m.state end, m.origin, m.trust, m.tags, m.metadata, date_part('epoch', m.expires_at) * 1000, m.agent_id, m.run_id, m.actor_id, m.role, date_part('epoch', m.valid_from) * 1000, date_part('epoch', m.valid_to) * 1000, m.superseded_by, m.seen_count, date_part('epoch', m.last_accessed_at) * 1000, date_part('epoch', m.purge_at) * 1000, date_part('epoch', m.created_at) * 1000, date_part('epoch', m.updated_at) * 1000, m.revision, m.tenant_id, m.user_id, m.app_id, (select t.thread_id from "memory".thread t where t.id = m.thread_ref), m.source_seqs, m.evidence, m.turn_start, m.turn_end)::text end,
          'lexemes', w.lexemes, 'frequencies', w.frequencies, 'speakers', w.speakers, 'length', w.length,
          'vector', (
            select encode(public.halfvec_send(e.embedding), 'base64') from "memory".memory_embedding e
            where e.memory_ref = m.ref and e.space_ref = :space and e.active
          ),
          'links', (
            select coalesce(json_agg(json_build_array(l.ref, l.strength)), '[]') from (
              select r.to_ref as ref, r.strength from "memory".relation r where r.from_ref = m.ref and m.state = 'active'
              union all
              select r.from_ref, r.strength from "memory".relation r where r.to_ref = m.ref and m.state = 'active'
            ) l
          )
        )
        from (
          select coalesce(array_agg(t.lexeme) filter (where not left(t.lexeme, 1) = '@'), '{}') as lexemes,
          coalesce(array_agg(t.frequency) filter (where not left(t.lexeme, 1) = '@'), '{}') as frequencies,
          coalesce(array_agg(substr(t.lexeme, 2)) filter (where left(t.lexeme, 1) = '@'), '{}') as speakers,
          coalesce(max(t.length) filter (where not left(t.lexeme, 1) = '@'), 0) as length
          from "memory".memory_term t where t.memory_ref = m.ref and m.state = 'active'
        ) w
  )))
  from unnest(p.changed_owners, p.changed_memories) c (owner_ref, ref)
  cross join lateral (select * from "memory".memory where ref = c.ref limit 1) m
) as memories,
-- The threads in which something was said, with that.
(
  select json_agg(json_build_array(c.owner_ref, json_build_object(
        'thread', t.id, 'app', t.app_id,
        'size', coalesce((
            select z.seq + 1 from "memory".message z where z.thread_ref = t.id order by z.seq desc limit 1
          ), 0),
        'messages', (
          select coalesce(json_agg(json_build_array(w.seq, w.length, w.lexemes, w.frequencies, w.speakers) order by w.seq), '[]')
          from (
            select x.seq, coalesce(max(x.length) filter (where not starts_with(x.lexeme, '@')), 0) as length,
            coalesce(array_agg(x.lexeme) filter (where not starts_with(x.lexeme, '@')), '{}') as lexemes,
            coalesce(array_agg(x.frequency) filter (where not starts_with(x.lexeme, '@')), '{}') as frequencies,
            coalesce(array_agg(substr(x.lexeme, 2)) filter (where starts_with(x.lexeme, '@')), '{}') as speakers
            from "memory".message_term x
            where x.thread_ref = t.id and x.seq >= c.first_seq
            group by x.seq
          ) w
        )
  )))
  from unnest(p.heard_owners, p.heard_threads, p.heard_from) c (owner_ref, ref, first_seq)
  cross join lateral (select * from "memory".thread where id = c.ref limit 1) t
) as threads
from "memory".pulse(
  :tenant, :user,
  :app, :thread,
  :messages::text[],
  :recent_messages, :recent_bytes,
  50,
  :gap_messages, :gap_bytes,
  :categories::text[],
  :changes, :consents,
  :language::regconfig,
  :terms::text, :telling::text,
  :speakers::text[],
  :held_owners::bigint[],
  :held_ticks::bigint[],
  500, now()
) p
