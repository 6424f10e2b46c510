-- Memories that do not depend on the question.

-- The most important visible memories: the answer to a question for everything.
create or replace function mnemograph.important_memories_1(
  owners bigint[], in_app text, kinds text[], categories text[], filters jsonb, asked_at timestamptz, most integer
) returns table (ref bigint, place bigint) language plpgsql stable parallel safe rows 5 as $$
  #variable_conflict use_column
  begin
    return query
      select i.ref, row_number() over (order by i.rank desc, i.updated_at desc, i.ref)
      from unnest(owners) o (id) cross join lateral (
        select m.ref, m.importance + 10 * m.pinned::integer as rank, m.updated_at from mnemograph.memory m
        where m.owner_ref = o.id and m.state = 'active' and (m.expires_at is null or m.expires_at > asked_at)
          and m.app_id in ('', in_app) and m.kind = any (kinds) and m.category = any (categories) and m.valid_from <= asked_at
          and mnemograph.fits_filters_1(
            filters, m.agent_id, m.run_id, m.actor_id, m.role, m.category, m.pinned, m.importance, m.updated_at, m.metadata, m.trust
          )
        order by (m.importance + 10 * m.pinned::integer) desc, m.updated_at desc, m.ref limit most
      ) i
      order by 2 limit most;
  end
$$;

-- Memories shown in every turn: the "profile" (pinned, of a category in `shown_whole`, or a slot of `min_importance` or more), and for
-- the room that is left the "fallback", the most important of the others. Of each category at most twice `most_fallback` statements are
-- read, and its length in `lengths` shown. `known` counts what was read; `is_cut`: there are more.
create or replace function mnemograph.known_memories_1(
  owners bigint[], in_app text, categories text[], trusts text[], lengths integer[], shown_whole text[], min_importance float8,
  most_profile integer, most_fallback integer, asked_at timestamptz
) returns table (list text, ref bigint, place bigint, known bigint, is_cut boolean)
language plpgsql stable parallel safe rows 100 as $$
  #variable_conflict use_column
  begin
    return query
      with visible_memory as not materialized (
        select m.owner_ref, m.ref, m.category, m.key, m.pinned, m.kind, m.importance, m.updated_at from mnemograph.memory m
        where m.state = 'active' and (m.expires_at is null or m.expires_at > asked_at) and m.app_id in ('', in_app)
          and m.category = any (categories) and m.valid_from <= asked_at and (trusts is null or m.trust = any (trusts))
      ),
      known_memory as materialized (
        -- Slots are few: all are read.
        select o.id as owner_ref, s.*, true as is_slot from unnest(owners) o (id) cross join lateral (
          select m.ref, m.category, m.pinned, m.kind, m.importance, m.updated_at from visible_memory m
          where m.owner_ref = o.id and m.key is not null and m.kind in ('fact', 'insight')
          offset 0
        ) s
        union all
        select o.id, p.*, false from unnest(owners) o (id) cross join lateral (
          select m.ref, m.category, m.pinned, m.kind, m.importance, m.updated_at from visible_memory m
          where m.owner_ref = o.id and m.pinned and (m.key is null and m.kind in ('fact', 'insight') or m.kind = 'episode')
          order by m.importance desc, m.updated_at desc, m.ref limit most_profile
        ) p
        union all
        -- "is not true", or a planner without statistics takes the index of ageing memories, which reads all owners'.
        select o.id, f.*, false from unnest(owners) o (id) cross join unnest(categories) c (category) cross join lateral (
          select m.ref, m.category, m.pinned, m.kind, m.importance, m.updated_at from visible_memory m
          where m.owner_ref = o.id and m.category = c.category and m.key is null and m.pinned is not true and m.kind in ('fact', 'insight')
          order by m.importance desc, m.updated_at desc, m.ref limit 2 * most_fallback
        ) f
      ),
      ranked as (
        select k.*, k.kind = 'insight' and not k.pinned as ranks_last,
          k.pinned or k.category = any (shown_whole) or k.is_slot and k.importance >= min_importance as is_profile,
          row_number() over (
            partition by k.category order by k.pinned desc, k.kind = 'insight', k.importance desc, k.updated_at desc, k.ref
          ) as place_in_category,
          count(*) over () as known, count(*) filter (where not k.is_slot and not k.pinned) over (partition by k.owner_ref, k.category) >= 2 * most_fallback as is_cut
        from known_memory k
      ),
      placed as (
        select r.*, row_number() over (
          partition by r.is_profile order by r.pinned desc, r.ranks_last, r.importance desc, r.updated_at desc, r.ref
        ) as place, bool_or(r.is_cut) over () as any_cut
        from ranked r left join unnest(categories, lengths) c (category, length) using (category)
        where r.pinned or c.length is null or r.place_in_category <= c.length
      )
      select case when p.is_profile then 'profile' else 'fallback' end, p.ref, p.place, p.known, p.any_cut
      from placed p where p.place <= case when p.is_profile then most_profile else most_fallback end;
  end
$$;
