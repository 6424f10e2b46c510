-- Which messages fit a question. The constants come with each call: src/search/retrieval-options.ts has them all, with their gain.

-- The owners' words that `word`, which no text of theirs has, may mean. The most frequent one that one slip makes of it: of other
-- words only those are read that begin with the same two letters, or with what a slip makes of them. Else up to three that begin as it
-- does, as parts of words: its other forms, where no stemmer knows its language, and compounds.
create or replace function mnemograph.nearest_words_1(owners bigint[], word text) returns table (lexeme text, is_part boolean)
language plpgsql stable parallel safe rows 1 as $$
  #variable_conflict use_column
  declare
    -- Each word is compared once, however many texts have it.
    known text[];
    counts bigint[];
    pattern text;
  begin
    select array_agg(t.lexeme), array_agg(t.texts) into known, counts
    from (
      select distinct h.head from unnest(array[left(word, 2), reverse(left(word, 2)), left(word, 1) || substr(word, 3, 1), substr(word, 2, 2)]) h (head)
    ) h
    cross join lateral (
      select t.lexeme, count(*) as texts from mnemograph.memory_term t
      where t.owner_ref = any (owners) and t.lexeme >= h.head and t.lexeme < h.head || e'\U0010FFFF'
      group by t.lexeme
      union all
      select t.lexeme, count(*) from mnemograph.message_term t
      where t.owner_ref = any (owners) and t.lexeme >= h.head and t.lexeme < h.head || e'\U0010FFFF'
      group by t.lexeme
    ) t
    where length(t.lexeme) > 4;
    if known is null then
      return;
    end if;
    -- With letters in the wrong order a word often keeps an ending that its stem lacks: "cleebrat" is "celebr".
    pattern := (
      select '^(?:' || string_agg(concat_ws('|', left(word, i) || '.' || substr(word, i + 1), left(word, i) || '.?' || substr(word, i + 2),
        left(word, i) || substr(word, i + 2, 1) || substr(word, i + 1, 1) || left(substr(word, i + 3), -3)
          || regexp_replace(right(substr(word, i + 3), 3), '(.)', '(?:\1', 'g') || repeat(')?', length(right(substr(word, i + 3), 3)))), '|') || ')$'
      from generate_series(0, length(word)) i
    );
    return query
      select k.lexeme, false from unnest(known, counts) k (lexeme, texts)
      where length(k.lexeme) between length(word) - 3 and length(word) + 1 and k.lexeme ~ pattern
      group by k.lexeme
      order by length(k.lexeme) desc, sum(k.texts) desc, k.lexeme limit 1;
    if not found then
      return query
        select k.lexeme, true from unnest(known, counts) k (lexeme, texts)
        cross join lateral (
          select max(i) as letters from generate_series(5, least(length(word), length(k.lexeme))) i
          where left(k.lexeme, i) = left(word, i)
        ) s
        where left(k.lexeme, 5) = left(word, 5) and s.letters >= least(length(word), length(k.lexeme), 0.75 * greatest(length(word), length(k.lexeme)))
        group by k.lexeme, s.letters
        order by s.letters desc, sum(k.texts) desc, k.lexeme limit 3;
    end if;
  end
$$;

-- The words of a question, each once. For one of five letters and more that no text of the owners has, those that it may mean.
create or replace function mnemograph.asked_words_1(owners bigint[], language regconfig, question text) returns mnemograph.asked_word[]
language plpgsql stable parallel safe as $$
  #variable_conflict use_column
  begin
    return array(
      select row(coalesce(n.lexeme, w.lexeme), bool_and(w.frequency = 0 or n.is_part is true), bool_and(w.is_aside))::mnemograph.asked_word
      from mnemograph.words_1(language, question) w
      left join lateral (
        -- Without the offsets all terms would be read.
        select n.* from (
          select w.lexeme
          where w.lexeme ~ '^[[:alpha:]]{5,30}$'
            and not exists (select from mnemograph.memory_term t where t.owner_ref = any (owners) and t.lexeme = w.lexeme offset 0)
            and not exists (select from mnemograph.message_term t where t.owner_ref = any (owners) and t.lexeme = w.lexeme offset 0)
          offset 0
        ) u cross join lateral mnemograph.nearest_words_1(owners, u.lexeme) n
      ) n on true
      group by coalesce(n.lexeme, w.lexeme)
    );
  end
$$;

-- The words asked for, as terms among the owners' memories or messages; no row where they have no messages. What a term is worth is its inverse
-- document frequency (idf), smoothed by 20 unseen texts, since rarity among three texts says next to nothing. A term in no text is as
-- rare as one in a single text, or unknown words would weigh most. In a large collection, terms of more than half the texts are skipped
-- where there are rarer ones: they cost the most to read and hardly change the order. `best_fit` is what a text with the
-- `expected_terms` rarest would score. What is only a part of an identifier counts as often as `part_weight`, and is worth as much less.
-- Terms that stand beside the sentences that ask are worth `aside_weight` times those, or the `expected_terms` rarest, all together.
create or replace function mnemograph.question_terms_1(
  owners bigint[], asked mnemograph.asked_word[], among_messages boolean, expected_terms integer, part_weight float8, aside_weight float8
) returns table (lexemes text[], texts float8[], are_parts boolean[], idfs float8[], best_fit float8, average_length float8)
language plpgsql stable parallel safe rows 1 as $$
  #variable_conflict use_column
  declare
    -- Of a long question the 64 rarest terms count, and terms in more than 20 texts are equally common.
    is_long boolean := cardinality(asked) > 64;
    total float8;
    average float8;
  begin
    select coalesce(sum(c.texts), 0), greatest(1, sum(c.length) / nullif(sum(c.texts), 0)) into total, average
    from mnemograph.owner o cross join lateral (
      select case when among_messages then o.message_count else o.memory_count end::float8 as texts,
        case when among_messages then o.message_length else o.memory_length end::float8 as length
    ) c
    where o.id = any (owners);
    -- Without memories the question may be about those of the past.
    if among_messages and total = 0 then
      return;
    end if;
    return query
      with known as (
        select w.lexeme, w.texts, w.is_part, w.is_aside, i.idf,
          row_number() over (partition by w.is_pair order by w.is_aside, w.texts = 0, w.texts) as nth, w.is_pair
        from (
          select l.lexeme, l.is_part, l.is_aside, f.texts, l.lexeme ~ '^[^\x01-\x7f]{1,2}$' as is_pair,
            bool_or(f.texts between 1 and total / 2) over () as has_rarer
          from unnest(asked) l cross join lateral (
            select count(*)::float8 as texts from (
              select from mnemograph.memory_term t
              where not among_messages and t.owner_ref = any (owners) and t.lexeme = l.lexeme
              union all
              select from mnemograph.message_term t
              where among_messages and t.owner_ref = any (owners) and t.lexeme = l.lexeme
              limit case when is_long then 20 end
            ) t
          ) f
        ) w
        cross join lateral (
          select ln(1 + (20 + greatest(total, w.texts) - greatest(w.texts, 1) + 0.5::float8) / (greatest(w.texts, 1) + 0.5::float8))
            * case when w.is_part then part_weight else 1 end as idf
        ) i
        where total < 200 or w.texts <= total / 2 or not w.has_rarer
      ),
      counted as (
        select k.*, row_number() over (order by k.idf desc) as place
        from known k where k.nth <= case when k.is_pair then 1000 else 64 end
      ),
      whole as (
        select sum(c.idf) filter (where c.place <= expected_terms) as fit, sum(c.idf) filter (where not c.is_aside) as asked,
          sum(c.idf) filter (where c.is_aside) as aside
        from counted c
      ),
      weighed as (
        -- Of pairs of characters, every other one lies across two words: an answer has half of them.
        select c.lexeme, c.texts, c.is_part, count(*) over () - count(*) filter (where c.is_pair) over () / 2 as expected,
          c.idf * case when c.is_aside then least(1, aside_weight * greatest(w.fit, w.asked) / w.aside) else 1 end as idf
        from counted c cross join whole w
      ),
      ranked as (select w.*, row_number() over (order by w.idf desc) as place from weighed w)
      select array_agg(w.lexeme order by w.texts = 0, w.texts), array_agg(w.texts order by w.texts = 0, w.texts),
        array_agg(w.is_part order by w.texts = 0, w.texts), array_agg(w.idf order by w.texts = 0, w.texts),
        sum(w.idf) filter (where w.place <= least(expected_terms, w.expected)), average
      from ranked w;
  end
$$;

-- How well messages fit a question, 0 to 1: BM25, as a share of what one with the question's rarest terms would score. Where people
-- talk with each other, an answer says little of what was asked: terms of the best messages count for the four before and after as
-- well. With an assistant, facts are in the user's words: a reply counts less, and in full for the message that it answers.
create or replace function mnemograph.search_messages_1(
  owners bigint[], in_app text, in_thread text, asked mnemograph.asked_word[], most integer,
  -- Messages that are left out, and lend no terms.
  hidden_threads bigint[], hidden_seqs integer[],
  k1 float8, b float8, longest float8, expected_terms integer, part_weight float8, aside_weight float8,
  neighbour_weight float8, assistant_weight float8, exchange_weight float8
) returns table (thread_ref bigint, seq integer, fit float8, own_fit float8)
language plpgsql stable parallel safe rows 100 as $$
  #variable_conflict use_column
  declare
    terms record;
  begin
    select * into terms from mnemograph.question_terms_1(owners, asked, true, expected_terms, part_weight, aside_weight);
    if not found then
      return;
    end if;
    return query
      with hit as materialized (
        select t.thread_ref, t.seq, w.place, w.idf, t.tf
        from unnest(terms.lexemes, terms.idfs) with ordinality w (lexeme, idf, place) cross join lateral (
          select t.thread_ref, t.seq, greatest(t.frequency, part_weight) / (1 - b + b * least(t.length / terms.average_length, longest)) as tf
          from mnemograph.message_term t where t.owner_ref = any (owners) and t.lexeme = w.lexeme offset 0
        ) t
      ),
      best as materialized (
        select s.thread_ref, s.seq, n.by_assistant, f.lends, case when n.by_assistant then coalesce(n.answered, f.answered) end as answered
        from (
          select h.thread_ref, h.seq, sum(h.idf * h.tf / (h.tf + k1))::real as own from hit h
          group by h.thread_ref, h.seq order by own desc, h.thread_ref, h.seq
        ) s
        cross join lateral (
          select from mnemograph.thread h
          where h.id = s.thread_ref and in_app in ('', h.app_id) and (in_thread is null or h.thread_id = in_thread) limit 1
        ) h
        cross join lateral (
          select bool_or(m.role = 'assistant') as with_assistant, bool_or(m.role = 'assistant' and m.seq = s.seq) as by_assistant,
            max(m.seq) filter (where m.role = 'user' and m.seq < s.seq) as answered
          from mnemograph.message m where m.thread_ref = s.thread_ref and m.seq between s.seq - 1 and s.seq + 1
        ) n
        cross join lateral (
          -- Further messages are read only where people talk with each other, or a reply does not follow its message.
          select not n.with_assistant and min(coalesce(m.actor, '') collate "C") < max(coalesce(m.actor, '') collate "C") as lends,
            max(m.seq) filter (where m.seq < s.seq) as answered
          from mnemograph.message m
          where (not n.with_assistant or n.by_assistant and n.answered is null)
            and m.thread_ref = s.thread_ref and m.seq between s.seq - 4 and s.seq + 4 and m.role = 'user'
        ) f
        where not exists (
          select from unnest(hidden_threads, hidden_seqs) h (thread_ref, seq) where h.thread_ref = s.thread_ref and h.seq = s.seq
        )
        limit most
      ),
      word as (
        select s.thread_ref, s.seq + d.distance as seq, h.idf, sum(h.tf * d.weight) as tf,
          sum(h.tf) filter (where d.distance = 0) as own_tf, bool_or(s.by_assistant) as by_assistant, max(s.answered) as answered
        from best s join hit h using (thread_ref, seq)
        cross join lateral (
          select 0 as distance, 1::float8 as weight
          union all
          select d, neighbour_weight * 0.5::float8 ^ (abs(d) - 1) from generate_series(-4, 4) d where d <> 0 and s.lends
        ) d
        group by s.thread_ref, s.seq + d.distance, h.place, h.idf
      ),
      said as (
        select w.thread_ref, w.seq, sum(w.idf * w.tf / (w.tf + k1)) / terms.best_fit as fit,
          coalesce(sum(w.idf * w.own_tf / (w.own_tf + k1)) / terms.best_fit, 0) as own_fit,
          bool_or(w.by_assistant) as by_assistant, max(w.answered) as answered
        from word w group by w.thread_ref, w.seq
      )
      select f.thread_ref, f.seq, greatest(max(f.fit), max(f.reply_fit)) + exchange_weight * least(max(f.fit), max(f.reply_fit)), max(f.own_fit)
      from (
        select s.thread_ref, s.seq, s.fit * case when s.by_assistant then assistant_weight else 1 end as fit, 0 as reply_fit, s.own_fit from said s
        union all
        select s.thread_ref, s.answered, 0, s.fit, 0 from said s where s.answered is not null
      ) f
      group by f.thread_ref, f.seq;
  end
$$;
