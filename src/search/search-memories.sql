-- Which memories fit a question: the candidates of a recall, a query and its explanation. What they weigh in the end is decided by
-- src/search/rank-memories.rule.ts; here the best by each signal are found. The constants come with each call.

-- How near a time is to a span that the question names: 1 within it, 0 outside of spans of more than two days. Outside of shorter ones it
-- halves every two days after, since people tell of yesterday and of last weekend, and every 12 hours before, since nobody names a time zone.
create or replace function mnemograph.nearness_1(at timestamptz, span tstzrange) returns float8 language sql immutable parallel safe as $$
  select case
    when at <@ span then 1
    when upper(span) - lower(span) > interval '2 days' then 0
    else 0.5 ^ greatest(extract(epoch from at - upper(span)) / 172800, extract(epoch from lower(span) - at) / 43200)::float8
  end
$$;

-- What a term adds to the BM25 score of a text. @param length of the text, as a multiple of the average
create or replace function mnemograph.term_fit_1(idf float8, frequency float8, length float8, k1 float8, b float8) returns float8
language sql immutable parallel safe as $$
  select idf * frequency / (frequency + k1 * (1 - b + b * length))
$$;

-- Whether a term, which so many texts have, identifies something. An identifier has a digit, an @, a dot within or two slashes, and few
-- texts have it: tickets, addresses, digests, files.
create or replace function mnemograph.is_identifier_1(lexeme text, texts float8, is_part boolean) returns boolean
language sql immutable parallel safe as $$
  select not is_part and texts <= 5 and length(lexeme) > 2 and lexeme ~ '[0-9@]|[[:alpha:]]{2}[.][[:alpha:]]{2}|/.*/'
$$;

-- Whether a memory with these columns has what `filters` asks for. It takes no row: on Citus each shard's rows have a type of their own.
create or replace function mnemograph.fits_filters_1(
  filters jsonb, agent_id text, run_id text, actor_id text, role text, category text, pinned boolean, importance real,
  updated_at timestamptz, metadata jsonb, trust text
) returns boolean language sql stable parallel safe as $$
  select filters is null or (
    (filters ->> 'agent_id' is null or agent_id = filters ->> 'agent_id')
    and (filters ->> 'run_id' is null or run_id = filters ->> 'run_id')
    and (filters ->> 'actor_id' is null or actor_id = filters ->> 'actor_id')
    and (filters ->> 'role' is null or role = filters ->> 'role')
    and (filters ->> 'category' is null or category = filters ->> 'category')
    and (filters ->> 'pinned' is null or pinned = (filters ->> 'pinned')::boolean)
    and (filters ->> 'importance_min' is null or importance >= (filters ->> 'importance_min')::real)
    and (filters ->> 'importance_max' is null or importance <= (filters ->> 'importance_max')::real)
    and (filters ->> 'updated_after' is null or updated_at >= (filters ->> 'updated_after')::timestamptz)
    and (filters ->> 'updated_before' is null or updated_at < (filters ->> 'updated_before')::timestamptz)
    and (filters -> 'metadata' is null or metadata @> (filters -> 'metadata'))
    and (filters -> 'trusts' is null or (filters -> 'trusts') ? trust)
  )
$$;

-- The candidates, at most `most`, best first, with their signals: the fit of their own words and of the best message that they were
-- learned from (0 to 1), the similarity of their vector, whether they have an identifier of the question, how strongly they are
-- linked to another candidate, and up to three visible memories that they are linked to.
create or replace function mnemograph.search_memories_1(
  owners bigint[], in_app text, kinds text[], categories text[], filters jsonb, asked_at timestamptz, most integer,
  language regconfig, question text, spans tstzrange[], asked_vector text, asked_space bigint, unrelated float8,
  k1 float8, b float8, longest float8, expected_terms integer, part_weight float8, aside_weight float8,
  neighbour_weight float8, assistant_weight float8, exchange_weight float8, source_weight float8, vector_weight float8, date_weight float8, identifier_weight float8
) returns table (ref bigint, words float8, source float8, similarity float8, has_identifier boolean, relation float8, linked bigint[])
language plpgsql stable parallel safe rows 30 as $$
  #variable_conflict use_column
  declare
    asked mnemograph.asked_word[];
    terms record;
    is_long_vector boolean;
    near_refs bigint[];
    similarities float8[];
    -- Rows read by each signal; all where filters leave too few of the best.
    cut integer;
    signals bigint;
    best record;
  begin
    if not exists (select from mnemograph.owner o where o.id = any (owners) and o.memory_count > 0) then
      return;
    end if;
    asked := mnemograph.asked_words_1(owners, language, question);
    select * into terms from mnemograph.question_terms_1(owners, asked, false, expected_terms, part_weight, aside_weight);
    if asked_vector is not null then
      is_long_vector := (select s.dimensions > 1300 from mnemograph.embedding_space s where s.id = asked_space);
    end if;
    foreach cut in array array[4 * most, 2147483647] loop
      if asked_vector is not null then
        -- Vectors of up to 1,300 dimensions are read from an index alone.
        select array_agg(n.ref), array_agg(least(1, n.similarity)) into near_refs, similarities
        from (
          select e.memory_ref as ref, -(e.embedding operator(vectors.<#>) (select asked_vector::vectors.halfvec)) as similarity
          from mnemograph.memory_embedding e
          where not is_long_vector and e.owner_ref = any (owners) and e.space_ref = asked_space and e.active
            and vectors.vector_dims(e.embedding) <= 1300
          union all
          select e.memory_ref, -(e.embedding operator(vectors.<#>) (select asked_vector::vectors.halfvec))
          from mnemograph.memory_embedding e
          where is_long_vector and e.owner_ref = any (owners) and e.space_ref = asked_space and e.active
          order by similarity desc, ref limit cut
        ) n;
      end if;
      with signal as materialized (
        (
          select t.memory_ref as ref, bool_or(w.is_identifier and t.frequency > 0) as has_identifier, (
              sum(mnemograph.term_fit_1(w.idf, t.tf, t.length / terms.average_length, k1, b)) / terms.best_fit
            )::real::float8 as words, 0::float8 as source, null::float8 as similarity, 0::float8 as dated
          from (
            select w.*, mnemograph.is_identifier_1(w.lexeme, w.texts, w.is_part) as is_identifier
            from unnest(terms.lexemes, terms.idfs, terms.texts, terms.are_parts) w (lexeme, idf, texts, is_part) offset 0
          ) w cross join lateral (
            select t.*, greatest(t.frequency, part_weight) as tf from mnemograph.memory_term t where t.owner_ref = any (owners) and t.lexeme = w.lexeme offset 0
          ) t
          group by t.memory_ref order by words desc, ref limit cut
        )
        union all
        select n.ref, false, 0, 0, n.similarity, 0 from unnest(near_refs, similarities) n (ref, similarity)
        union all (
          select s.memory_ref, false, 0, max(f.fit), null, 0
          from mnemograph.search_messages_1(
            owners, in_app, null, asked, least(cut, 1000), '{}', '{}', k1, b, longest, expected_terms, part_weight, aside_weight,
            neighbour_weight, assistant_weight, exchange_weight
          ) f cross join lateral (
            select s.memory_ref from mnemograph.memory_source s where s.thread_ref = f.thread_ref and s.seq = f.seq offset 0
          ) s
          group by s.memory_ref
        )
        union all (
          select m.ref, false, 0, 0, null, mnemograph.nearness_1(m.valid_from, d.span) as dated
          from unnest(spans) d (span) cross join lateral (
            select m.ref, m.valid_from from mnemograph.memory m
            where m.owner_ref = any (owners)
              and m.valid_from >= lower(d.span) - interval '2 days' and m.valid_from < upper(d.span) + interval '7 days' offset 0
          ) m
          order by dated desc, m.ref limit cut
        )
      )
      select array_agg(c.ref) as refs, array_agg(c.words) as words, array_agg(c.source) as sources, array_agg(c.similarity) as similarities,
        array_agg(c.has_identifier) as have_identifiers, (select count(*) from signal) as signals
      into best
      from (
        select s.* from (
          select s.ref, max(s.words) as words, max(s.source) as source, max(s.similarity) as similarity, bool_or(s.has_identifier) as has_identifier
          from signal s group by s.ref
          order by max(s.words) + source_weight * max(s.source) + date_weight * max(s.dated) + identifier_weight * bool_or(s.has_identifier)::integer
            + vector_weight * greatest(0, coalesce(max(s.similarity), 0) - unrelated) / (1 - unrelated) desc, s.ref desc
        ) s
        cross join lateral (select * from mnemograph.memory m where m.ref = s.ref limit 1) m
        where m.owner_ref = any (owners) and m.state = 'active' and (m.expires_at is null or m.expires_at > asked_at)
          and m.app_id in ('', in_app) and m.kind = any (kinds) and m.category = any (categories)
          and mnemograph.fits_filters_1(
            filters, m.agent_id, m.run_id, m.actor_id, m.role, m.category, m.pinned, m.importance, m.updated_at, m.metadata, m.trust
          )
        limit most
      ) c;
      exit when cardinality(best.refs) >= most or best.signals < cut;
    end loop;
    if asked_vector is not null then
      best.similarities := array(
        select coalesce(f.similarity, (
          select least(1, -(e.embedding operator(vectors.<#>) (select asked_vector::vectors.halfvec)))
          from mnemograph.memory_embedding e where e.space_ref = asked_space and e.memory_ref = f.ref
        )) from unnest(best.refs, best.similarities) with ordinality f (ref, similarity, place) order by f.place
      );
    end if;
    return query
      select f.ref, f.words, f.source, f.similarity, f.has_identifier, coalesce(l.relation, 0), coalesce(l.linked, '{}')
      from unnest(best.refs, best.words, best.sources, best.similarities, best.have_identifiers) with ordinality
        f (ref, words, source, similarity, has_identifier, place)
      left join lateral (
        select max(r.strength) filter (where r.other = any (best.refs))::float8 as relation,
          (array_agg(r.other order by m.kind = 'insight' and not m.pinned, r.strength desc, r.other) filter (
            where m.state = 'active' and (m.expires_at is null or m.expires_at > asked_at)
              and m.app_id in ('', in_app) and m.kind = any (kinds) and m.category = any (categories)
              and mnemograph.fits_filters_1(
                filters, m.agent_id, m.run_id, m.actor_id, m.role, m.category, m.pinned, m.importance, m.updated_at, m.metadata, m.trust
              )
          ))[1:3] as linked
        from (
          select r.to_ref as other, r.strength from mnemograph.relation r where r.from_ref = f.ref
          union all
          select r.from_ref, r.strength from mnemograph.relation r where r.to_ref = f.ref
        ) r
        cross join lateral (select * from mnemograph.memory m where m.ref = r.other limit 1) m
      ) l on true
      order by f.place;
  end
$$;
