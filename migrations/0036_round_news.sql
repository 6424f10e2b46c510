-- Of each memory a round is told what happened to it last, and nothing of what it was in between: where a value was replaced, or
-- two were made one, it is told of the one that stands, if there is news of that.
do $do$
begin
  execute format(
    $body$
      create or replace function %1$I.round_news(
        owners bigint[], told bigint, since bigint, categories text[], asked_app text,
        most_changes bigint, most_consents bigint, asked_at timestamptz
      ) returns table (change_count integer, changes json, consents json)
      language plpgsql stable parallel safe rows 1 as $$
      begin
        change_count := 0;
        changes := '[]';
        if exists (select from %1$I.change_log l where l.owner_ref = told and l.rev > since) then
          with change as materialized (
            select l.* from %1$I.change_log l
            where l.owner_ref = told and l.rev > since and l.category = any (categories) and l.app_id in ('', asked_app)
          ),
          -- Of one that was also said again the line before, which has its words.
          latest as (
            select distinct on (c.memory_id) c.* from change c order by c.memory_id, c.event = 'merged', c.rev desc
          ),
          -- Read one by one, until there are enough.
          standing as (
            select l.* from (
              select * from latest order by importance desc, rev desc offset 0
            ) l
            where not coalesce((
              select m.state in ('superseded', 'merged') and exists (
                select from %1$I.change_log o
                where o.memory_id = m.superseded_by and o.owner_ref = told and o.rev > since
              )
              from %1$I.memory m where m.id = l.memory_id limit 1
            ), false)
            limit most_changes
          )
          select (select count(*) from change), coalesce(
            json_agg(json_build_object('rev', s.rev, 'event', s.event, 'line', s.line) order by s.importance desc, s.rev desc),
            '[]'
          ) into change_count, changes
          from standing s;
        end if;
        consents := '[]';
        if most_consents > 0 and exists (
          select from %1$I.consent_request c where c.owner_ref = any (owners) and c.status = 'pending'
        ) then
          -- The newest requests that may be asked about now, each with what holds its slot.
          select coalesce(json_agg(json_build_object(
            'id', d.id, 'category', d.category, 'key', d.key, 'value', d.draft ->> 'value', 'text', d.draft ->> 'text',
            'current', (
              select coalesce(h.value, h.content) from %1$I.memory h
              where h.owner_ref = d.owner_ref and h.category = d.category and h.key = d.key and h.state = 'active'
                and sha256(replace(h.app_id, E'\\', E'\\\\')::bytea) = sha256(replace(d.app_id, E'\\', E'\\\\')::bytea)
                and h.app_id = d.app_id and (h.expires_at is null or h.expires_at > asked_at)
            )
          ) order by d.ref desc), '[]') into consents
          from (
            select * from %1$I.consent_request c
            where c.owner_ref = any (owners) and c.status = 'pending' and c.rule = 'consent'
              and c.expires_at > asked_at and c.ask_at <= asked_at and c.app_id in ('', asked_app)
              and c.category = any (categories)
            order by c.ref desc limit most_consents
          ) d;
        end if;
        return next;
      end
      $$
    $body$,
    current_schema()
  );
end
$do$;
