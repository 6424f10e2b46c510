-- LangGraph's store: what agents keep by namespace and key.
create table store_item (
  ref bigint generated always as identity primary key,
  -- Whose it is; all three are empty in a store that names no scope.
  tenant_id text not null,
  user_id text not null,
  app_id text not null,
  namespace text[] collate "C" not null,
  -- The namespace's labels as strings of JSON, a comma after each: so whole labels in front are a prefix of this text.
  path text collate "C" not null,
  key text not null,
  value jsonb not null,
  -- Which of its fields are searched; null for none. An item is indexed anew from these.
  index_fields text[],
  -- Their words. A search reads all items below its prefix, so that no index of them is needed.
  words tsvector,
  -- Raised by each write: vectors of another revision are of another value.
  revision bigint not null default 1,
  ttl_minutes double precision,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The scope, the name within it and the beginning of the path in few bytes, for indexes. Columns and not expressions:
  -- under row-level security only comparisons of columns reach an index.
  place bytea not null generated always as (
    sha256(
      sha256(replace(tenant_id, E'\\', E'\\\\')::bytea) || sha256(replace(user_id, E'\\', E'\\\\')::bytea)
      || sha256(replace(app_id, E'\\', E'\\\\')::bytea)
    )
  ) stored,
  item bytea not null generated always as (
    sha256(sha256(replace(path, E'\\', E'\\\\')::bytea) || sha256(replace(key, E'\\', E'\\\\')::bytea))
  ) stored,
  path_head text collate "C" not null generated always as (left(path, 200)) stored
);
create unique index store_item_name on store_item (place, item);
create index store_item_path on store_item (place, path_head);
create index store_item_expiry on store_item (expires_at) where expires_at is not null;
-- By whom it is forgotten, exported and merged.
create index store_item_user on store_item using hash (user_id) where user_id <> '';
create index store_item_app on store_item using hash (app_id) where app_id <> '';
