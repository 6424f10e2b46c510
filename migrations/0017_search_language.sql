-- Which text search configuration the words of this schema are indexed with: what is looked up with another one misses
-- what was indexed. One row, written by the first `setup`.
create table search_language (
  only_row boolean primary key default true check (only_row),
  configuration text not null
);
