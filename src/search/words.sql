-- The words of a text that src/text/search-text.ts prepared: pieces, each with the language of its script, none where the script does
-- not say, or "part" for parts of identifiers. A word has the `frequency` 0 where it is only such a part. "~" before it: the piece
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
  begin
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
      group by v.lexeme;
  end
$$;
