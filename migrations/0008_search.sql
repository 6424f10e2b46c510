-- Words are looked up, not sorted for people: byte order is faster to compare, and no update of the system's locales
-- can put the index out of order.
alter table memory_term alter column lexeme type text collate "C";
alter table message_term alter column lexeme type text collate "C";

-- What may have been meant by a misspelt word: the texts one edit away from it (a letter dropped, two swapped, one
-- added, doubled or changed), with spaces between. A function, so that searches that correct nothing need not prepare
-- for it.
create function one_edit_away(word text) returns text language sql immutable parallel safe as $$
  select string_agg(edit, ' ') from (
    select left(word, i - 1) || substr(word, i + 1) as edit from generate_series(1, length(word)) i
    union all
    select left(word, i - 1) || substr(word, i + 1, 1) || substr(word, i, 1) || substr(word, i + 2)
    from generate_series(1, length(word) - 1) i
    union all
    select left(word, i) || chr(c) || substr(word, i + 1 + skip)
    from generate_series(0, length(word)) i, generate_series(97, 122) c, generate_series(0, 1) skip
  ) edits
$$;

-- How many threads an owner has is asked with every search.
create index thread_owner_ref on thread (owner_ref);
