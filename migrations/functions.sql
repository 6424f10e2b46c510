-- Version: 1
--
-- Functions and triggers, installed where an older version of this file was. Raise the number with each change. A function that
-- takes or returns something else gets another name, and the one before stays for processes that still call it.
--
-- Where a pooler keeps no prepared statements, a function keeps its plans (plans.sql). An aggregate costs most to plan, so lists are
-- made by `array(…)`, and rows that are seldom there are looked for first.

-- Counts the changes of a row: who edits it says which revision was read.
create or replace function mnemograph.count_revision() returns trigger language plpgsql as $$
  begin
    new.revision := old.revision + 1;
    return new;
  end
$$;

create or replace trigger memory_revision before update of
  category, key, value, content, importance, confidence, pinned, state, tags, trust, seen_count, valid_from, valid_to,
  superseded_by, purge_at, metadata, expires_at
  on mnemograph.memory for each row execute function mnemograph.count_revision();

create or replace trigger consent_request_revision before update of status, draft, seen_count, signals
  on mnemograph.consent_request for each row execute function mnemograph.count_revision();

-- Changes of an owner's memories that a thread was not told of, one a memory, and requests for consent to ask about. Of a memory its
-- last change counts; where a value was replaced, or two memories merged, the change of the one that is active now. What was created
-- since is new to the thread, however often it was changed; the value of a slot that had one is not. That a memory is gone is news only
-- to the thread that was shown it, or that it was learned in. `instead` is what it replaces of `shown_ids`, which the epoch shows.
-- That a memory is in doubt, or is not any more, is news where the epoch shows it; with another change of it, that one has the doubt.
create or replace function mnemograph.thread_changes_1(
  owners bigint[], of_owner bigint, since bigint, shown_ids uuid[], categories text[], trusts text[], asked_tenant text, asked_app text, asked_thread text,
  most_changes bigint, most_consents bigint, asked_at timestamptz
) returns table (change_count integer, changes json, consents json)
language plpgsql stable parallel safe rows 1 as $$
  begin
    change_count := 0;
    changes := '[]';
    if exists (select from mnemograph.change_log l where l.owner_ref = of_owner and l.rev > since) then
      with change as materialized (
        select l.* from mnemograph.change_log l
        where l.owner_ref = of_owner and l.rev > since and l.category = any (categories) and l.app_id in ('', asked_app)
          and (trusts is null or exists (select from mnemograph.memory m where m.id = l.memory_id and m.trust = any (trusts)))
      ),
      -- The last word on whether a memory is in doubt.
      doubt as materialized (
        select distinct on (c.memory_id) c.memory_id, c.event, c.rev, c.line, c.created_at from change c
        where c.event in ('doubted', 'confirmed') order by c.memory_id, c.rev desc
      ),
      -- Where the last one is a merge, the change before it, which has the memory's words.
      latest as (
        select distinct on (c.memory_id) c.owner_ref, c.memory_id, c.event, c.importance, coalesce(d.rev, c.rev) as rev,
          coalesce(d.line, c.line) as line, coalesce(d.created_at, case when c.event = 'doubted' then c.created_at end) as doubted_at
        from change c
        left join doubt d on d.memory_id = c.memory_id and d.rev > c.rev and d.event = 'doubted' and c.event <> 'merged'
        order by c.memory_id, c.event = 'merged', c.event in ('doubted', 'confirmed'), c.rev desc
      ),
      told as materialized (
        select l.* from latest l
        -- What was hidden is deleted in the end: it was gone already.
        where l.event not in ('deleted', 'soft_deleted') or coalesce((
          select g.event from mnemograph.change_log g
          where g.owner_ref = of_owner and g.memory_id = l.memory_id and g.rev <= since order by g.rev desc limit 1
        ), '') not in ('deleted', 'soft_deleted') and exists (
          select from mnemograph.thread t
          where mnemograph.id_digest(t.tenant_id) = mnemograph.id_digest(asked_tenant) and t.tenant_id = asked_tenant
            and mnemograph.id_digest(t.thread_id) = mnemograph.id_digest(asked_thread) and t.thread_id = asked_thread
            and (
              exists (select from mnemograph.memory m where m.id = l.memory_id and m.thread_ref = t.id)
              or exists (select from mnemograph.shown s where s.thread_ref = t.id and l.memory_id = any (s.memory_ids))
            )
        )
      ),
      active as materialized (
        select l.*, p.id as instead_id, coalesce(p.value, p.content) as instead
        from told l
        -- One row each by its index, whatever the planner expects of the list.
        left join lateral (select * from mnemograph.memory where id = l.memory_id limit 1) m on true
        left join lateral (
          select p.id, p.value, p.content from mnemograph.memory p
          where p.id = any (shown_ids) and p.id <> m.id and m.state = 'active' and p.state in ('superseded', 'merged') and (
            p.superseded_by = m.id
            or p.key = m.key and p.category = m.category and p.owner_ref = m.owner_ref and p.app_id = m.app_id
          )
          order by p.valid_from desc limit 1
        ) p on true
        -- Its category may have changed since.
        where (m.id is null or m.category = any (categories)) and not (
          -- A thread has the words of its own episodes.
          l.event = 'created' and m.kind = 'episode' and exists (
            select from mnemograph.thread t where t.id = m.thread_ref and t.tenant_id = asked_tenant and t.thread_id = asked_thread
          )
        ) and case
          when l.event in ('deleted', 'soft_deleted') then true
          when l.event in ('doubted', 'confirmed') then m.state = 'active' and (m.expires_at is null or m.expires_at > asked_at)
            and l.memory_id = any (shown_ids) and (l.event = 'doubted' or not exists (
              select from change c where c.memory_id = l.memory_id and c.event = 'doubted'
            ))
          -- In the words of the one that is left, unless that has a change of its own.
          when m.state in ('superseded', 'merged') then l.event <> 'created' and exists (
            select from mnemograph.memory n
            where n.id = m.superseded_by and n.state = 'active' and n.category = any (categories)
              and (n.expires_at is null or n.expires_at > asked_at)
          ) and not exists (
            select from mnemograph.change_log o
            where o.memory_id = m.superseded_by and o.owner_ref = of_owner and o.rev > since
          )
          -- What an epoch shows stands there in the same words.
          else m.state = 'active' and (m.expires_at is null or m.expires_at > asked_at)
            and (l.event = 'merged' or (l.memory_id = any (shown_ids)) is not true)
        end
      ),
      best as (
        select l.*, case
          when l.event = 'created' and (r.is_replacement or l.instead_id is not null) then 'updated'
          when l.event in ('updated', 'restored') and not r.is_replacement and exists (
            select from change c where c.event = 'created' and c.memory_id = l.memory_id
          ) then 'created'
          else l.event
        end as told_event
        from (
          select * from active order by instead_id is not null desc, importance desc, rev desc limit most_changes
        ) l
        cross join lateral (
          select exists (
            select from (select * from mnemograph.memory where id = l.memory_id limit 1) m
            join mnemograph.memory p on p.owner_ref = m.owner_ref
              and mnemograph.id_digest(p.app_id) = mnemograph.id_digest(m.app_id) and p.category = m.category and p.key = m.key
            where p.state = 'superseded'
          ) as is_replacement
        ) r
      )
      select (select count(*) from active), coalesce(
        json_agg(json_build_object(
          'rev', b.rev, 'memoryId', b.memory_id, 'event', b.told_event, 'line', b.line, 'importance', b.importance,
          'doubtedAt', b.doubted_at, 'instead', b.instead, 'insteadId', b.instead_id
        ) order by b.instead_id is not null desc, b.importance desc, b.rev desc),
        '[]'
      ) into change_count, changes
      from best b;
    end if;
    consents := '[]';
    if most_consents > 0 and exists (
      select from mnemograph.consent_request c where c.owner_ref = of_owner and c.status = 'pending'
    ) then
      -- The newest requests that may be asked about now, each with what holds its slot.
      select coalesce(json_agg(json_build_object(
        'id', d.id, 'category', d.category, 'key', d.key, 'value', d.draft ->> 'value', 'text', d.draft ->> 'text',
        'current', d.current, 'currentId', d.current_id
      ) order by d.ref desc), '[]') into consents
      from (
        select c.*, h.id as current_id, coalesce(h.value, h.content) as current
        from mnemograph.consent_request c
        left join mnemograph.memory h on h.owner_ref = c.owner_ref and h.category = c.category and h.key = c.key and h.state = 'active'
          and mnemograph.id_digest(h.app_id) = mnemograph.id_digest(c.app_id)
          and h.app_id = c.app_id and (h.expires_at is null or h.expires_at > asked_at)
        where c.owner_ref = of_owner and c.status = 'pending' and c.rule = 'consent'
          and c.expires_at > asked_at and c.ask_at <= asked_at and c.app_id in ('', asked_app)
          and c.category = any (categories)
        order by c.ref desc limit most_consents
      ) d;
    end if;
    return next;
  end
$$;

-- What earlier turns of an epoch were told beside memories, in words: `turns` has for each its message and its `shown.news`. What is
-- not there any more is left out.
create or replace function mnemograph.told_news_1(
  owners bigint[], of_owner bigint, asked_app text, turns json, asked_at timestamptz
) returns json language plpgsql stable parallel safe as $$
  begin
    return array_to_json(array(
      select json_build_object('messageId', t.value ->> 0, 'news', t.value -> 1,
        'changes', array(
          select json_build_object(
            'rev', l.rev, 'memoryId', l.memory_id, 'event', c.value ->> 1, 'line', l.line, 'importance', l.importance,
            'doubtedAt', case when l.event = 'doubted' then l.created_at end, 'insteadId', c.value ->> 2, 'instead', (
              select coalesce(p.value, p.content) from mnemograph.memory p where p.id = (c.value ->> 2)::uuid and p.owner_ref = of_owner
            )
          )
          from json_array_elements(t.value -> 1 -> 'changes') with ordinality c (value, place)
          join mnemograph.change_log l on l.owner_ref = of_owner and l.rev = (c.value ->> 0)::bigint and l.app_id in ('', asked_app)
          order by c.place
        ),
        'consents', array(
          select json_build_object(
            'id', d.id, 'category', d.category, 'key', d.key, 'value', d.draft ->> 'value', 'text', d.draft ->> 'text',
            'currentId', c.value ->> 1, 'current', (
              select coalesce(h.value, h.content) from mnemograph.memory h where h.id = (c.value ->> 1)::uuid and h.owner_ref = d.owner_ref
            )
          )
          from json_array_elements(t.value -> 1 -> 'consents') with ordinality c (value, place)
          join mnemograph.consent_request d on d.id = (c.value ->> 0)::uuid and d.owner_ref = any (owners) and d.app_id in ('', asked_app)
          order by c.place
        ),
        'unread', array(
          select json_build_object('place', u.value, 'text', left(m.content, 2000), 'saidAt', m.said_at)
          from json_array_elements(t.value -> 1 -> 'unread') with ordinality u (value, place)
          join mnemograph.message m on m.thread_ref = (u.value ->> 0)::bigint and m.seq = (u.value ->> 1)::integer
            -- One that was removed since has another role.
            and m.role = 'user'
          join mnemograph.thread h on h.id = m.thread_ref and h.owner_ref = of_owner and h.app_id = asked_app
          where not exists (
            select from mnemograph.memory_source s join mnemograph.memory e on e.ref = s.memory_ref
            where s.thread_ref = m.thread_ref and s.seq = m.seq and (e.state in ('superseded', 'soft_deleted') or e.expires_at <= asked_at)
          )
          order by u.place
        )
      )
      from json_array_elements(turns) t
    ));
  end
$$;

-- The ids among `ids` that other tenants use as well: how many tenants, whether one of them keeps its checkpoints under the id
-- itself, or whether nobody does (tenant ' ', for runs that name no user). Runs as the owner of the tables and over all tenants,
-- where row-level security hides the others too: it reports only that an id is taken.
create or replace function mnemograph.threads_elsewhere(ids text[], tenant text)
returns table (id text, tenants integer, is_taken boolean, is_taken_by_nobody boolean)
language plpgsql security definer set search_path = mnemograph, pg_temp as $$
  declare
    before text := coalesce(current_setting('mnemograph.tenant_id', true), '');
  begin
    perform set_config('mnemograph.tenant_id', '*', true);
    return query
      select t.thread_id, count(distinct t.tenant_id) filter (where t.tenant_id <> ' ')::integer,
        coalesce(bool_or(t.checkpoint_name = t.thread_id) filter (where t.tenant_id <> ' '), false),
        coalesce(bool_or(t.checkpoint_name = t.thread_id) filter (where t.tenant_id = ' '), false)
      from mnemograph.thread t
      where mnemograph.id_digest(t.thread_id)
          in (select mnemograph.id_digest(i) from unnest(ids) i) and t.thread_id = any (ids)
        and t.tenant_id <> tenant
      group by t.thread_id;
    perform set_config('mnemograph.tenant_id', before, true);
  end
$$;
