-- The words of a text that src/text/search-text.ts prepared: pieces, each with the language of its script, none where the script does
-- not say, "part" for parts of identifiers, or "accented" for words as they are spelled and without accents: those that are stop words
-- as they are spelled are left out. A word has the `frequency` 0 where it is only such a part. "~" before it: the piece
-- stands beside a question. Each piece is small: a tsvector of more than 1 MB is an error. A text search configuration of one's own
-- reads every script.
create or replace function mnemograph.words_1(language regconfig, terms text) returns table (lexeme text, frequency integer, is_aside boolean)
language plpgsql stable parallel safe rows 20 as $$
  #variable_conflict use_column
  declare
    reads_all boolean := not exists (
      select from pg_catalog.pg_ts_config c
      where c.oid = language and c.cfgnamespace = 'pg_catalog'::regnamespace and c.cfgname not in ('serbian', 'nepali')
    );
    stop_words text[] := '{}';
  begin
    if strpos(terms, e'accented\x1f') > 0 then
      stop_words := array(
        select unnest(tsvector_to_array(to_tsvector(language, string_agg(w.plain, ' '))))
        from string_to_table(terms, e'\x1e') t (piece)
        cross join string_to_table(split_part(t.piece, e'\x1f', 3), ' ') with ordinality w (plain, place)
        where starts_with(t.piece, e'accented\x1f') and w.place not in (
          select unnest(v.positions) from unnest(to_tsvector(language, split_part(t.piece, e'\x1f', 2))) v
        )
      );
    end if;
    return query
      select v.lexeme, least(sum(case when p.label = 'part' then 0 else coalesce(cardinality(v.positions), 1) end), 32767)::integer,
        bool_and(p.is_aside)
      from string_to_table(terms, e'\x1e') t (piece)
      -- With an offset each piece is split once, and not for every word.
      cross join lateral (
        select ltrim(split_part(t.piece, e'\x1f', 1), '~') as label, starts_with(t.piece, '~') as is_aside,
          split_part(t.piece, e'\x1f', 2) as content offset 0
      ) p
      cross join lateral unnest(
        to_tsvector(case when reads_all or p.label in ('', 'part') then language else p.label::regconfig end, p.content)
      ) v
      where p.label <> 'accented' and v.lexeme <> all (stop_words)
      group by v.lexeme;
  end
$$;
