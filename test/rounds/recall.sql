-- The statement of a recall, with its values by name: of a user within an app, with embeddings. Made by
-- recall-sql.test.ts from what src/rounds/recall-statement.ts composes; nothing reads it but people.
with
-- The thread, its summary and what was said since.
conversation as materialized (
  select owned, rev_seen, summary, processing, gap, recent, omitted
  from "memory".conversation(
    :tenant, :user, :app, :thread, null::text[],
    :recent_messages, :recent_bytes, 50, :gap_messages, :gap_bytes, now()
)),
-- Whose memories are searched: the user and the app.
seen_owner as materialized (
  select * from (
    select o.id, o.user_id <> '' as is_user, o.revision, o.changes_trimmed_to, o.memory_count, o.memory_length,
    o.message_count, o.message_length
    from "memory".owner o
    where sha256(replace(o.tenant_id, E'\\', E'\\\\')::bytea) = sha256(replace(:tenant, E'\\', E'\\\\')::bytea) and o.tenant_id = :tenant and sha256(replace(o.user_id, E'\\', E'\\\\')::bytea) = sha256(replace(:user, E'\\', E'\\\\')::bytea) and o.user_id = :user and sha256(replace(o.app_id, E'\\', E'\\\\')::bytea) = sha256(replace('', E'\\', E'\\\\')::bytea) and o.app_id = ''
    union all
    select o.id, o.user_id <> '' as is_user, o.revision, o.changes_trimmed_to, o.memory_count, o.memory_length,
    o.message_count, o.message_length
    from "memory".owner o
    where sha256(replace(o.tenant_id, E'\\', E'\\\\')::bytea) = sha256(replace(:tenant, E'\\', E'\\\\')::bytea) and o.tenant_id = :tenant and sha256(replace(o.user_id, E'\\', E'\\\\')::bytea) = sha256(replace('', E'\\', E'\\\\')::bytea) and o.user_id = '' and sha256(replace(o.app_id, E'\\', E'\\\\')::bytea) = sha256(replace(:app, E'\\', E'\\\\')::bytea) and o.app_id = :app
  ) o
  where coalesce((select owned from conversation), true)
),
-- The owner that news and revisions are of.
told_owner as materialized (
  select id, revision, changes_trimmed_to from seen_owner order by is_user desc limit 1
),
-- What this thread was not told of, and what waits for the user's consent.
news as materialized (
  select * from "memory".thread_changes(
    array(select id from seen_owner), (select id from told_owner), (select rev_seen::bigint from conversation),
    :categories::text[], :tenant, :app, :thread,
    :changes, :consents, now()
  )
),
-- Words of the question that name a speaker. Most owners know none: then the words need not be looked up.
speaker_word as materialized (
  select word from unnest(:words::text[]) word
  where (select (
      exists (select from seen_owner s join "memory".memory_term t on t.owner_ref = s.id and t.lexeme >= '@' and t.lexeme < 'A')
      or exists (select from seen_owner s join "memory".message_term t on t.owner_ref = s.id and t.lexeme >= '@' and t.lexeme < 'A')
  ))
  and (
    exists (select from seen_owner s join "memory".memory_term t on t.owner_ref = s.id and t.lexeme = '@' || word)
    or exists (select from seen_owner s join "memory".message_term t on t.owner_ref = s.id and t.lexeme = '@' || word)
  )
),
-- The question's terms.
question_term as materialized (
  select v.n, v.lexeme,
  v.lexeme in (select v.lexeme from speaker_word cross join lateral unnest(to_tsvector('english'::regconfig, speaker_word.word)) v) as named,
  count(*) over () <= 64 as few
  from unnest(to_tsvector('english'::regconfig, :terms)) with ordinality v (lexeme, positions, weights, n)
),
-- All of them; of a long question the rarest.
telling_term as materialized (
  select n, lexeme, named from question_term where few
  union all (
    select w.n, w.lexeme, w.named
    from question_term w cross join lateral (
      select (
        select count(*) from (
          select from seen_owner s join "memory".memory_term t on t.owner_ref = s.id and t.lexeme = w.lexeme limit 20
        ) c) + (
        select count(*) from (
          select from seen_owner s join "memory".message_term t on t.owner_ref = s.id and t.lexeme = w.lexeme limit 20
        ) c) as texts
      offset 0
    ) f
    where not few
    order by f.texts = 0, f.texts, w.n limit 64
  )
),
-- The same for each owner, with how many texts have it.
counted_term as materialized (
  select v.n, v.lexeme, v.named, s.id as owner_ref, f.memories, f.messages
  from telling_term v cross join seen_owner s cross join lateral (
    select m.memories, g.messages
    from (
      select count(*)::float8 as memories from "memory".memory_term t where t.owner_ref = s.id and t.lexeme = v.lexeme
    ) m cross join (
      select count(*)::float8 as messages from "memory".message_term t where t.owner_ref = s.id and t.lexeme = v.lexeme
    ) g
  ) f
),
-- Terms that no text has.
unknown_term as materialized (
  select lexeme, count(*) over () as terms from counted_term
  where not named group by lexeme having sum(memories + messages) = 0
),
-- Words that are corrected: only where most of the question is unknown.
misspelt_word as materialized (
  select c.word, v.lexeme as term
  from unnest(:correctable::text[]) with ordinality c (word, place)
  cross join lateral unnest(to_tsvector('english'::regconfig, c.word)) v
  join unknown_term using (lexeme)
  where 2 * terms >= (select count(distinct n) from counted_term where not named)
  and (select sum(memory_count + message_count) > 0 from seen_owner)
  order by c.place limit 6
),
-- What may have been meant by them, of what some text has.
corrected_term as materialized (
  select m.term, v.lexeme
  from misspelt_word m cross join lateral unnest(to_tsvector('english'::regconfig, (
        select string_agg(edit, ' ') from (
          select left(m.word, i - 1) || substr(m.word, i + 1) as edit from generate_series(1, length(m.word)) i
          union all
          select left(m.word, i - 1) || substr(m.word, i + 1, 1) || substr(m.word, i, 1) || substr(m.word, i + 2)
          from generate_series(1, length(m.word) - 1) i
          union all
          select left(m.word, i) || chr(c) || substr(m.word, i + 1 + skip)
          from generate_series(0, length(m.word)) i, generate_series(97, 122) c, generate_series(0, 1) skip
        ) edits
  ))) v
  where left(v.lexeme, 1) = left(m.word, 1) and (
    exists (select from seen_owner s join "memory".memory_term t on t.owner_ref = s.id and t.lexeme = v.lexeme)
    or exists (select from seen_owner s join "memory".message_term t on t.owner_ref = s.id and t.lexeme = v.lexeme)
  )
),
-- The terms that are searched for.
asked_term as materialized (
  select n, lexeme as term, lexeme, case when named then 0.5::float8 else 1 end as weight,
  owner_ref, memories, messages
  from counted_term where lexeme not in (select term from corrected_term)
  union all
  select c.n, c.term, c.lexeme, 0.8::float8, s.id, f.memories, f.messages
  from (
    select -row_number() over () as n, min(term) as term, lexeme from corrected_term
    where lexeme not in (select lexeme from counted_term) group by lexeme
  ) c cross join seen_owner s cross join lateral (
    select m.memories, g.messages
    from (
      select count(*)::float8 as memories from "memory".memory_term t where t.owner_ref = s.id and t.lexeme = c.lexeme
    ) m cross join (
      select count(*)::float8 as messages from "memory".message_term t where t.owner_ref = s.id and t.lexeme = c.lexeme
    ) g
  ) f
),
-- Which memories are wanted: one row.
wanted as materialized (
  select :app::text as app_id, :kinds::text[] as kinds, :searched_categories::text[] as categories,
  null::text as agent_id, null::text as run_id, null::text as actor_id, null::text as role,
  null::text as category, null::boolean as pinned,
  null::real as importance_min, null::real as importance_max,
  null::timestamptz as updated_after, null::timestamptz as updated_before,
  null::jsonb as metadata, now() as now
),
-- Messages that are to be forgotten. One that other facts came from lends them no words, and can be found.
forgotten_message as materialized (
  select thread_ref, seq from (
    select t.id as thread_ref, a.seq, turn.wholly
    from seen_owner o
    join "memory".history h
    on h.owner_ref = o.id and h.event = 'DELETE' and h.new ->> 'state' = 'soft_deleted'
    cross join lateral (
      select e.new #>> '{source,threadId}' as thread_id, e.new #> '{source,seqs}' as seqs
      from "memory".history e where e.memory_id = h.memory_id and e.new #> '{source,seqs}' is not null
      union
      select h.new #>> '{evidence,threadId}', jsonb_build_array(h.new #> '{evidence,seq}')
      where h.new #> '{evidence,seq}' is not null
    ) told
    -- One by one: joined, all threads are hashed for each of them.
    cross join lateral (
      select t.id from "memory".thread t where sha256(replace(t.thread_id, E'\\', E'\\\\')::bytea) = sha256(replace(told.thread_id, E'\\', E'\\\\')::bytea) and t.thread_id = told.thread_id and t.owner_ref = o.id
      limit 1
    ) t
    cross join lateral (
      select c.seq::integer as first, (
        select true from "memory".memory_source s
        cross join lateral (select * from "memory".memory where ref = s.memory_ref limit 1) m
        where s.thread_ref = t.id and s.seq = c.seq::integer and m.kind = 'fact' and m.state = 'active' limit 1
      ) is null as wholly
      from jsonb_array_elements_text(told.seqs) c (seq) offset 0
    ) turn
    cross join lateral (
      select min(m.seq) as seq from "memory".message m
      where m.thread_ref = t.id and m.role = 'user' and m.seq > turn.first
    ) next
    cross join lateral (
      select m.seq from "memory".message m
      where m.thread_ref = t.id and m.seq >= turn.first and m.seq < coalesce(next.seq, 2147483647) offset 0
    ) a
    -- Restored or reverted since.
    where not exists (
      select from "memory".history r
      where r.memory_id = h.memory_id and r.id > h.id and r.event <> 'DELETE' and r.old ->> 'state' = 'soft_deleted'
  )) f
),
-- What each term is worth among messages.
message_weight as materialized (
  select * from (
    select a.*, a.weight * ln(1 + (greatest(s.message_count, a.messages, 1) + 20::float8 - greatest(a.messages, 1) + 0.5::float8)
      / (greatest(a.messages, 1) + 0.5::float8)) as gain,
    greatest(1, s.message_length::float8 / greatest(1, s.message_count)) as average,
    (
      a.messages > s.message_count / 2.0 and s.message_count >= 200
      and count(*) filter (where a.messages between 1 and s.message_count / 2.0) over (partition by s.id) > 0
    ) as common
    from asked_term a join seen_owner s on s.id = a.owner_ref
  ) w
  where not w.common
),
-- What a message would score that has them all.
message_ideal as materialized (
  select sum(gain) as gain from (
    select max(gain) as gain from message_weight group by term order by 1 desc limit 6
  ) rarest
),
-- Which messages have which of the terms.
message_match as materialized (
  select t.thread_ref, t.seq, w.n, w.weight, w.gain, t.frequency,
  t.frequency / (0.7::float8 + 0.3::float8 * t.length / w.average) as normed
  from message_weight w
  join "memory".message_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
  where exists (select from "memory".thread h where h.id = t.thread_ref and h.app_id = :app and true)
  and (t.thread_ref, t.seq) not in (select thread_ref, seq from forgotten_message)
),
-- How often each thread says each term, and how many threads do.
thread_match as materialized (
  select thread_ref, n, max(weight) as weight, sum(frequency)::float8 as frequency, count(*) over (partition by n)::float8 as threads
  from message_match group by thread_ref, n
),
-- How long those threads are.
thread_size as materialized (
  select r.thread_ref, l.messages::float8 as messages, greatest(1, avg(l.messages) over ())::float8 as average
  from (select distinct thread_ref from thread_match) r
  cross join lateral (
    select max(m.seq) + 1 as messages from "memory".message m where m.thread_ref = r.thread_ref
  ) l
),
-- How many threads there are.
thread_total as materialized (
  select count(*)::float8 as threads from "memory".thread h
  where h.owner_ref in (select id from seen_owner) and h.app_id = :app
),
-- What each term is worth among threads.
thread_weight as (
  select w.term, w.weight * ln(1 + (greatest(n.threads, coalesce(m.threads, 0), 1) + 0::float8 - greatest(coalesce(m.threads, 0), 1) + 0.5::float8)
    / (greatest(coalesce(m.threads, 0), 1) + 0.5::float8)) as gain
  from message_weight w left join (select distinct n, threads from thread_match) m using (n) cross join thread_total n
),
-- What a thread would score that has them all.
thread_ideal as materialized (
  select sum(gain) as gain from (
    select max(gain) as gain from thread_weight group by term order by 1 desc limit 6
  ) rarest
),
-- What each term is worth among threads, and how often a thread of average length would say it.
thread_word as (
  select m.thread_ref, m.weight * ln(1 + (greatest(n.threads, m.threads, 1) + 0::float8 - greatest(m.threads, 1) + 0.5::float8)
    / (greatest(m.threads, 1) + 0.5::float8)) as gain,
  m.frequency / (0.7::float8 + 0.3::float8 * z.messages / z.average) as normed
  from thread_match m full join thread_size z using (thread_ref) cross join thread_total n
),
-- How well each thread fits as a whole.
thread_score as materialized (
  select thread_ref, sum(gain * normed / (normed + 0.6::float8)) / (select gain from thread_ideal) as score
  from thread_word group by thread_ref
),
-- The same with what their message scores by its own words.
message_word as materialized (
  select m.*, (sum(gain * normed / (normed + 0.6::float8)) over same_message)::real::float8 as total,
  row_number() over same_message as nth
  from message_match m where (select exists (
      select from (select distinct thread_ref from thread_match) t
      cross join lateral (select from "memory".memory_source s where s.thread_ref = t.thread_ref limit 1) learned
  )) window same_message as (partition by thread_ref, seq)
),
-- Words of the best messages, lent to the messages around them.
message_field as (
  select m.thread_ref, m.seq + near.seqs as seq, m.n, m.gain, m.normed * near.weight as frequency,
  case near.seqs when 0 then m.normed else 0 end as own
  from message_word m
  cross join lateral (
    select seq - m.seq as seqs, case seq - m.seq
    when 0 then 1::float8
    when 1 then 0.4::float8 when -1 then 0.2::float8
    when 2 then 0.2::float8 else 0.1::float8
    end as weight
    from (
      select distinct s.seq from "memory".memory_source s
      where s.thread_ref = m.thread_ref and s.seq between m.seq - 2 and m.seq + 2 offset 0
    ) learned
  ) as near
  where m.total >= (
    select min(total) from (select total from message_word where nth = 1 order by total desc limit :candidates::int * 8) best
  )
),
-- Each word once for a message, whoever said it.
message_term_score as (
  select thread_ref, seq, max(gain) as gain, sum(frequency) as frequency, sum(own) as own
  from message_field group by thread_ref, seq, n
),
-- How well each message fits: with those around it, and alone.
message_score as materialized (
  select t.thread_ref, t.seq,
  (sum(t.gain * t.frequency / (t.frequency + 0.6::float8)) / (select gain from message_ideal))::real::float8 as score,
  sum(t.gain * t.own / (t.own + 0.6::float8)) / (select gain from message_ideal) as own
  from message_term_score t
  group by t.thread_ref, t.seq
),
-- What each term is worth among memories.
memory_weight as materialized (
  select w.*, 0.84::float8 as base, 0.36::float8 / w.average as slope
  from (
    select * from (
      select a.*, a.weight * ln(1 + (greatest(s.memory_count, a.memories, 1) + 20::float8 - greatest(a.memories, 1) + 0.5::float8)
        / (greatest(a.memories, 1) + 0.5::float8)) as gain,
      greatest(1, s.memory_length::float8 / greatest(1, s.memory_count)) as average,
      (
        a.memories > s.memory_count / 2.0 and s.memory_count >= 200
        and count(*) filter (where a.memories between 1 and s.memory_count / 2.0) over (partition by s.id) > 0
      ) as common
      from asked_term a join seen_owner s on s.id = a.owner_ref
    ) w
    where not w.common
  ) w
),
-- What a memory would score that has them all.
memory_ideal as materialized (
  select sum(gain) as gain from (
    select max(gain) as gain from memory_weight group by term order by 1 desc limit 6
  ) rarest
),
-- How well each memory's words fit: BM25, with all that is the same for a term computed once. In single precision,
-- so that texts that fit equally well are equals, in whatever order their words are summed up.
memory_score as (
  select t.memory_ref as ref, (
    sum(w.gain * t.frequency / (t.frequency + w.base + w.slope * t.length)) / (select gain from memory_ideal)
  )::real::float8 as score
  from memory_weight w
  join "memory".memory_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
  group by t.memory_ref
),
-- The best by their words.
word_top as materialized (
  select ref, score as value from memory_score order by score desc, ref limit :candidates::int * 8
),
-- Those that are visible.
word_best as materialized (
  select t.ref, t.value
  from (select ref, value from word_top order by value desc, ref) t
  cross join wanted w
  cross join lateral (select * from "memory".memory where ref = t.ref limit 1) m
  where (
    m.state = 'active' and (m.expires_at is null or m.expires_at > w.now) and m.app_id in ('', w.app_id)
    and m.kind = any (w.kinds) and m.category = any (w.categories)
    and (w.agent_id is null or m.agent_id = w.agent_id)
    and (w.run_id is null or m.run_id = w.run_id)
    and (w.actor_id is null or m.actor_id = w.actor_id)
    and (w.role is null or m.role = w.role)
    and (w.category is null or m.category = w.category)
    and (w.pinned is null or m.pinned = w.pinned)
    and (w.importance_min is null or m.importance >= w.importance_min)
    and (w.importance_max is null or m.importance <= w.importance_max)
    and (w.updated_after is null or m.updated_at >= w.updated_after)
    and (w.updated_before is null or m.updated_at < w.updated_before)
    and (w.metadata is null or m.metadata @> w.metadata)
  )
  order by t.value desc, t.ref
  limit :candidates::int
),
-- The question's vector, read once.
question_vector as materialized (select :vector::public.halfvec as value),
-- The nearest vectors.
near_top as materialized (
  select e.memory_ref as ref, least(1, -(e.embedding operator(public.<#>) (select value from question_vector))) as value
  from seen_owner s
  join "memory".memory_embedding e on e.owner_ref = s.id and e.space_ref = :space and e.active
  and public.vector_dims(e.embedding) <= 1300
  order by value desc, ref limit :candidates::int * 4
),
-- Those of visible memories.
near_best as materialized (
  select t.ref, t.value
  from (select ref, value from near_top order by value desc, ref) t
  cross join wanted w
  cross join lateral (select * from "memory".memory where ref = t.ref limit 1) m
  where (
    m.state = 'active' and (m.expires_at is null or m.expires_at > w.now) and m.app_id in ('', w.app_id)
    and m.kind = any (w.kinds) and m.category = any (w.categories)
    and (w.agent_id is null or m.agent_id = w.agent_id)
    and (w.run_id is null or m.run_id = w.run_id)
    and (w.actor_id is null or m.actor_id = w.actor_id)
    and (w.role is null or m.role = w.role)
    and (w.category is null or m.category = w.category)
    and (w.pinned is null or m.pinned = w.pinned)
    and (w.importance_min is null or m.importance >= w.importance_min)
    and (w.importance_max is null or m.importance <= w.importance_max)
    and (w.updated_after is null or m.updated_at >= w.updated_after)
    and (w.updated_before is null or m.updated_at < w.updated_before)
    and (w.metadata is null or m.metadata @> w.metadata)
  )
  order by t.value desc, t.ref
  limit :candidates::int * 2
),
-- Visible memories learned from the best messages: from the best down, until there are enough.
source_top as materialized (
  select s.memory_ref as ref, c.score, c.own
  from (select thread_ref, seq, score, own from message_score order by score desc, thread_ref, seq) c
  cross join wanted w
  cross join lateral (
    select memory_ref from "memory".memory_source where thread_ref = c.thread_ref and seq = c.seq offset 0
  ) s
  cross join lateral (select * from "memory".memory where ref = s.memory_ref limit 1) m
  where m.owner_ref = any (array(select id from seen_owner)) and (
    m.state = 'active' and (m.expires_at is null or m.expires_at > w.now) and m.app_id in ('', w.app_id)
    and m.kind = any (w.kinds) and m.category = any (w.categories)
    and (w.agent_id is null or m.agent_id = w.agent_id)
    and (w.run_id is null or m.run_id = w.run_id)
    and (w.actor_id is null or m.actor_id = w.actor_id)
    and (w.role is null or m.role = w.role)
    and (w.category is null or m.category = w.category)
    and (w.pinned is null or m.pinned = w.pinned)
    and (w.importance_min is null or m.importance >= w.importance_min)
    and (w.importance_max is null or m.importance <= w.importance_max)
    and (w.updated_after is null or m.updated_at >= w.updated_after)
    and (w.updated_before is null or m.updated_at < w.updated_before)
    and (w.metadata is null or m.metadata @> w.metadata)
  )
  order by c.score desc, c.thread_ref, c.seq
  limit :candidates::int * 8
),
-- Each of them with the best score of its messages, with those around them and alone.
source_best as materialized (
  select ref, max(score) as value, max(own) as own from source_top group by ref
),
-- By which signals filters left less of the best than is wanted: one row.
scant as materialized (
  select (select count(*) from word_best) < :candidates::int and (select count(*) from word_top) >= :candidates::int * 8 as words,
  (select count(*) from source_best) < :candidates::int and (select count(*) from (select from message_word where nth = 1 limit :candidates::int * 8) h) >= :candidates::int * 8 as sources,
  (select count(*) from near_best) < :candidates::int * 2 and (select count(*) from near_top) >= :candidates::int * 4 as near
),
-- All visible memories, where their words or vectors are to be gone through; else none.
rest as materialized (
  select m.ref from seen_owner s join "memory".memory m on m.owner_ref = s.id cross join wanted w
  where (
    m.state = 'active' and (m.expires_at is null or m.expires_at > w.now) and m.app_id in ('', w.app_id)
    and m.kind = any (w.kinds) and m.category = any (w.categories)
    and (w.agent_id is null or m.agent_id = w.agent_id)
    and (w.run_id is null or m.run_id = w.run_id)
    and (w.actor_id is null or m.actor_id = w.actor_id)
    and (w.role is null or m.role = w.role)
    and (w.category is null or m.category = w.category)
    and (w.pinned is null or m.pinned = w.pinned)
    and (w.importance_min is null or m.importance >= w.importance_min)
    and (w.importance_max is null or m.importance <= w.importance_max)
    and (w.updated_after is null or m.updated_at >= w.updated_after)
    and (w.updated_before is null or m.updated_at < w.updated_before)
    and (w.metadata is null or m.metadata @> w.metadata)
  ) and (select words or near from scant)
),
-- The best of those by their words,
rest_word as (
  select ref, score as value
  from (select r.ref as visible, o.* from rest r full join memory_score o on o.ref = r.ref offset 0) f
  where visible is not null and ref is not null and (select words from scant)
  order by score desc, ref limit :candidates::int
),
-- by their vectors,
rest_near as (
  select r.ref, e.value from rest r cross join lateral (
    select least(1, -(e.embedding operator(public.<#>) (select value from question_vector))) as value from "memory".memory_embedding e
    where e.memory_ref = r.ref and e.space_ref = :space and e.active limit 1
  ) e
  where (select near from scant)
  order by e.value desc, r.ref limit :candidates::int * 2
),
-- and by the own words of the messages they were learned from: what is not among the best lends none to its neighbours.
rest_source as (
  select f.ref, max(f.total) / (select gain from message_ideal) as value
  from (
    select c.memory_ref as ref, h.total
    from (
      select l.* from thread_score t cross join lateral (
        select thread_ref, seq, memory_ref from "memory".memory_source where thread_ref = t.thread_ref offset 0
      ) l
      where (select sources from scant)
    ) c
    full join (select thread_ref, seq, total from message_word where nth = 1) h
    on h.thread_ref = c.thread_ref and h.seq = c.seq
    offset 0
  ) f
  cross join wanted w
  cross join lateral (select * from "memory".memory where ref = f.ref limit 1) m
  where f.ref is not null and f.total is not null and (select sources from scant)
  and m.owner_ref = any (array(select id from seen_owner)) and (
    m.state = 'active' and (m.expires_at is null or m.expires_at > w.now) and m.app_id in ('', w.app_id)
    and m.kind = any (w.kinds) and m.category = any (w.categories)
    and (w.agent_id is null or m.agent_id = w.agent_id)
    and (w.run_id is null or m.run_id = w.run_id)
    and (w.actor_id is null or m.actor_id = w.actor_id)
    and (w.role is null or m.role = w.role)
    and (w.category is null or m.category = w.category)
    and (w.pinned is null or m.pinned = w.pinned)
    and (w.importance_min is null or m.importance >= w.importance_min)
    and (w.importance_max is null or m.importance <= w.importance_max)
    and (w.updated_after is null or m.updated_at >= w.updated_after)
    and (w.updated_before is null or m.updated_at < w.updated_before)
    and (w.metadata is null or m.metadata @> w.metadata)
  )
  group by f.ref order by value desc, ref limit :candidates::int
),
-- What speaks for each memory; only what is visible may be found.
signal as (
  select ref, value as lexical, 0::float8 as source, null::float8 as similarity, 0::float8 as boost, true as visible
  from word_best
  union all
  select ref, value, 0, null, 0, false from word_top
  union all
  select ref, value, 0, null, 0, true from rest_word
  union all
  select ref, 0, value, null, 0, true from source_best
  union all
  select ref, 0, value, null, 0, true from rest_source
  union all
  select ref, 0, 0, value, 0, true from near_best
  union all
  select ref, 0, 0, value, 0, false from near_top
  union all
  select ref, 0, 0, value, 0, true from rest_near
  union all
  select m.ref, 0, 0, null, 0.3::float8 + 0.05::float8 * (m.importance - 1) / 4, true
  from seen_owner s
  cross join wanted w
  cross join unnest(:times_since::timestamptz[], :times_before::timestamptz[]) as span (since, before)
  cross join lateral (
    select * from "memory".memory
    where owner_ref = s.id and valid_from >= span.since and valid_from < span.before offset 0
  ) m
  where (
    m.state = 'active' and (m.expires_at is null or m.expires_at > w.now) and m.app_id in ('', w.app_id)
    and m.kind = any (w.kinds) and m.category = any (w.categories)
    and (w.agent_id is null or m.agent_id = w.agent_id)
    and (w.run_id is null or m.run_id = w.run_id)
    and (w.actor_id is null or m.actor_id = w.actor_id)
    and (w.role is null or m.role = w.role)
    and (w.category is null or m.category = w.category)
    and (w.pinned is null or m.pinned = w.pinned)
    and (w.importance_min is null or m.importance >= w.importance_min)
    and (w.importance_max is null or m.importance <= w.importance_max)
    and (w.updated_after is null or m.updated_at >= w.updated_after)
    and (w.updated_before is null or m.updated_at < w.updated_before)
    and (w.metadata is null or m.metadata @> w.metadata)
  )
),
-- The candidates.
candidate as materialized (
  select ref, max(lexical) as lexical, max(source) as source, max(similarity) as similarity
  from signal group by ref
  having bool_or(visible)
  order by max(lexical) + 0.8::float8 * max(source)
  + 0.6::float8 * greatest(0, coalesce(max(similarity), 0) - :related_from::float8) / (1 - :related_from::float8) + max(boost) desc, ref desc
  limit :candidates::int
),
-- With their memories.
hit as materialized (
  select m.ref, m.thread_ref, s.lexical, s.source, s.similarity, json_build_array(m.id, m.tenant_id, m.user_id, m.app_id, m.kind, m.category, m.key, m.value, m.content, m.importance, m.confidence, m.pinned, case when m.state = 'active' and not (m.expires_at is null or m.expires_at > now()) then 'soft_deleted' else m.state end, m.origin, m.trust, m.tags, m.metadata, date_part('epoch', m.expires_at) * 1000, m.agent_id, m.run_id, m.actor_id, m.role, (select t.thread_id from "memory".thread t where t.id = m.thread_ref), m.source_seqs, m.evidence, m.turn_start, m.turn_end, date_part('epoch', m.valid_from) * 1000, date_part('epoch', m.valid_to) * 1000, m.superseded_by, m.seen_count, date_part('epoch', m.last_accessed_at) * 1000, date_part('epoch', m.purge_at) * 1000, date_part('epoch', m.created_at) * 1000, date_part('epoch', m.updated_at) * 1000, m.revision) as memory
  from candidate s cross join lateral (select * from "memory".memory where ref = s.ref limit 1) m
),
-- The strength of each one's strongest link to another, and what it is most strongly linked to.
hit_link as materialized (
  select l.ref, max(l.strength) filter (where o.ref is not null) as relation,
  (array_agg(m.ref order by (m.kind = 'insight' and not m.pinned), l.strength desc, m.ref) filter (where (
        m.state = 'active' and (m.expires_at is null or m.expires_at > w.now) and m.app_id in ('', w.app_id)
        and m.kind = any (w.kinds) and m.category = any (w.categories)
        and (w.agent_id is null or m.agent_id = w.agent_id)
        and (w.run_id is null or m.run_id = w.run_id)
        and (w.actor_id is null or m.actor_id = w.actor_id)
        and (w.role is null or m.role = w.role)
        and (w.category is null or m.category = w.category)
        and (w.pinned is null or m.pinned = w.pinned)
        and (w.importance_min is null or m.importance >= w.importance_min)
        and (w.importance_max is null or m.importance <= w.importance_max)
        and (w.updated_after is null or m.updated_at >= w.updated_after)
        and (w.updated_before is null or m.updated_at < w.updated_before)
        and (w.metadata is null or m.metadata @> w.metadata)
  )))[1:3::int] as linked
  from (
    select r.from_ref as ref, r.to_ref as other, r.strength from "memory".relation r
    where r.from_ref = any (array(select ref from hit))
    union all
    select r.to_ref, r.from_ref, r.strength from "memory".relation r
    where r.to_ref = any (array(select ref from hit))
  ) l
  cross join lateral (select * from "memory".memory where ref = l.other limit 1) m
  cross join wanted w
  left join hit o on o.ref = l.other
  group by l.ref
),
-- The answer: candidates with their signals, and what they are linked to.
found as (
  select 'hit' as list, c.ref::float8 as ref, json_build_array(
    c.lexical, c.source, coalesce(h.score, 0), coalesce(c.similarity, (
        select least(1, -(e.embedding operator(public.<#>) (select value from question_vector))) from "memory".memory_embedding e
        where e.memory_ref = c.ref and e.space_ref = :space
    )),
    coalesce(b.relation, 0), coalesce(b.linked, '{}'), (
      select case when count(*) >= 20 and count(*) < :candidates::int * 2 then min(value) end
      from (select ref, value from near_best union select ref, value from rest_near) n
    ),
    c.ref in (select ref from source_best where own > 0 union all select ref from rest_source)
  ) as signals, c.memory
  from hit c
  left join thread_score h on h.thread_ref = c.thread_ref
  left join hit_link b on b.ref = c.ref
  union all
  select 'link', m.ref, null, json_build_array(m.id, m.tenant_id, m.user_id, m.app_id, m.kind, m.category, m.key, m.value, m.content, m.importance, m.confidence, m.pinned, case when m.state = 'active' and not (m.expires_at is null or m.expires_at > now()) then 'soft_deleted' else m.state end, m.origin, m.trust, m.tags, m.metadata, date_part('epoch', m.expires_at) * 1000, m.agent_id, m.run_id, m.actor_id, m.role, (select t.thread_id from "memory".thread t where t.id = m.thread_ref), m.source_seqs, m.evidence, m.turn_start, m.turn_end, date_part('epoch', m.valid_from) * 1000, date_part('epoch', m.valid_to) * 1000, m.superseded_by, m.seen_count, date_part('epoch', m.last_accessed_at) * 1000, date_part('epoch', m.purge_at) * 1000, date_part('epoch', m.created_at) * 1000, date_part('epoch', m.updated_at) * 1000, m.revision)
  from (select distinct unnest(linked) as ref from hit_link) b
  join "memory".memory m on m.ref = b.ref
  where b.ref not in (select ref from hit)
),
-- What is known, whatever is asked: slots, what is pinned, and of each category the most important statements.
known_memory as materialized (
  select k.* from seen_owner s cross join lateral (
    select m.owner_ref, m.ref, m.category, m.pinned, m.key is not null as slot, (m.kind = 'insight' and not m.pinned) as last, m.importance,
    m.updated_at from "memory".memory m
    where m.owner_ref = s.id and m.key is not null and m.kind in ('fact', 'insight') and m.category = any (:categories::text[]) and m.state = 'active' and (m.expires_at is null or m.expires_at > now()) and m.app_id in ('', :app) and m.valid_from <= now()
    offset 0
  ) k
  union all
  select p.* from seen_owner s cross join lateral (
    select m.owner_ref, m.ref, m.category, m.pinned, m.key is not null as slot, (m.kind = 'insight' and not m.pinned) as last, m.importance,
    m.updated_at from "memory".memory m
    where m.owner_ref = s.id and (m.importance + 10 * m.pinned::integer) > 10 and m.pinned and (m.key is null or m.kind = 'episode')
    and m.kind in ('fact', 'insight', 'episode') and m.category = any (:categories::text[]) and m.state = 'active' and (m.expires_at is null or m.expires_at > now()) and m.app_id in ('', :app) and m.valid_from <= now()
    order by (m.importance + 10 * m.pinned::integer) desc, m.updated_at desc, m.ref limit :always_shown
  ) p
  union all
  select w.* from seen_owner s cross join unnest(:categories::text[]) as each (category)
  cross join lateral (
    select m.owner_ref, m.ref, m.category, m.pinned, m.key is not null as slot, (m.kind = 'insight' and not m.pinned) as last, m.importance,
    m.updated_at from "memory".memory m
    where m.owner_ref = s.id and m.category = each.category and m.key is null and not m.pinned
    and m.kind in ('fact', 'insight') and m.state = 'active' and (m.expires_at is null or m.expires_at > now()) and m.app_id in ('', :app) and m.valid_from <= now()
    order by m.importance desc, m.updated_at desc, m.ref limit :statements
  ) w
),
-- The same with their places in their categories, and whether they are always shown.
placed_memory as (
  select k.*, k.pinned or k.category = any (:shown_whole::text[]) or k.slot and k.importance >= :least_importance as always,
  row_number() over (partition by k.category order by k.pinned desc, k.last, k.importance desc, k.updated_at desc, k.ref) as nth
  from known_memory k
),
-- As many of them as the block has room for.
listed_known as materialized (
  select case when always then 'profile' else 'rest' end as list, ref, place
  from (
    select always, ref, row_number() over (partition by always order by pinned desc, last, importance desc, updated_at desc, ref) as place
    from placed_memory
    left join unnest(:categories::text[], :category_lengths::int[]) as each (category, most) using (category)
    where pinned or each.most is null or nth <= each.most
  ) k
  where place <= case when always then :always_shown::int else :rest_shown::int end
),
-- All memories of this recall; those of a list with their places in it. What is a hit as well is written once.
listed as (
  select l.list, l.ref::float8 as ref, to_json(l.place) as signals,
  case when l.ref not in (select ref from hit) then json_build_array(m.id, m.tenant_id, m.user_id, m.app_id, m.kind, m.category, m.key, m.value, m.content, m.importance, m.confidence, m.pinned, case when m.state = 'active' and not (m.expires_at is null or m.expires_at > now()) then 'soft_deleted' else m.state end, m.origin, m.trust, m.tags, m.metadata, date_part('epoch', m.expires_at) * 1000, m.agent_id, m.run_id, m.actor_id, m.role, (select t.thread_id from "memory".thread t where t.id = m.thread_ref), m.source_seqs, m.evidence, m.turn_start, m.turn_end, date_part('epoch', m.valid_from) * 1000, date_part('epoch', m.valid_to) * 1000, m.superseded_by, m.seen_count, date_part('epoch', m.last_accessed_at) * 1000, date_part('epoch', m.purge_at) * 1000, date_part('epoch', m.created_at) * 1000, date_part('epoch', m.updated_at) * 1000, m.revision) end as memory
  from listed_known l cross join lateral (select * from "memory".memory where ref = l.ref limit 1) m
  union all
  select 'note', m.ref, to_json(row_number() over (order by m.trust = 'operator' desc, m.updated_at desc, m.ref)), json_build_array(m.id, m.tenant_id, m.user_id, m.app_id, m.kind, m.category, m.key, m.value, m.content, m.importance, m.confidence, m.pinned, case when m.state = 'active' and not (m.expires_at is null or m.expires_at > now()) then 'soft_deleted' else m.state end, m.origin, m.trust, m.tags, m.metadata, date_part('epoch', m.expires_at) * 1000, m.agent_id, m.run_id, m.actor_id, m.role, (select t.thread_id from "memory".thread t where t.id = m.thread_ref), m.source_seqs, m.evidence, m.turn_start, m.turn_end, date_part('epoch', m.valid_from) * 1000, date_part('epoch', m.valid_to) * 1000, m.superseded_by, m.seen_count, date_part('epoch', m.last_accessed_at) * 1000, date_part('epoch', m.purge_at) * 1000, date_part('epoch', m.created_at) * 1000, date_part('epoch', m.updated_at) * 1000, m.revision)
  from (
    select m.* from "memory".memory m
    where m.owner_ref = (select id from seen_owner where not is_user) and m.kind = 'note' and m.state = 'active'
    and (m.expires_at is null or m.expires_at > now())
    and m.category = any (:categories::text[])
    order by m.trust = 'operator' desc, m.updated_at desc, m.ref limit :notes
  ) m
  union all select list, ref, signals, memory from found
)
select
(select row_to_json(c) from conversation c) as conversation,
(select revision from told_owner)::float8 as revision,
(select changes_trimmed_to from told_owner)::float8 as trimmed_to,
(select change_count from news) as change_count,
(select changes from news) as changes,
(select consents from news) as consents,
to_tsvector('english'::regconfig, :telling::text) = ''::tsvector as broad,
(select count(*) from known_memory)::int as known_count,
exists (
  select from known_memory where not pinned and not slot group by owner_ref, category
  having count(*) >= :statements
) as known_cut,
coalesce((select json_agg(f) from listed f), '[]') as memories
