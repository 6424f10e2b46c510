-- The baseline's tables of embeddings, for a database with pgvector.

-- The models that made vectors, by name and dimensions. They belong to no owner, and contain no words.
create table mnemograph.embedding_space (
  id bigint generated always as identity constraint embedding_space_pkey primary key,
  name text not null,
  dimensions integer not null constraint embedding_space_dimensions check (dimensions > 0),
  -- How similar questions and memories are that have nothing to do with each other: 0.1 with one model, 0.7 with another.
  -- Measured once, when the space is first searched; null until then.
  unrelated_mean real,
  unrelated_spread real,
  -- When a process last began to use it.
  used_at timestamptz not null default now(),
  constraint embedding_space_identity unique (name, dimensions)
);

-- Vectors of memories, of length 1: their inner product is their cosine similarity. Apart from `memory`, so that an update of a
-- memory does not rewrite its vector. Deleted with their memory.
--
-- Vectors of up to some 4,000 dimensions are stored in their rows: fetching each from elsewhere takes three to four times as long
-- (1,536 dimensions).
create table mnemograph.memory_embedding (
  space_ref bigint not null
    constraint memory_embedding_space_ref_fkey references mnemograph.embedding_space (id),
  memory_ref bigint not null
    constraint memory_embedding_memory_ref_fkey references mnemograph.memory (ref) on delete cascade,
  owner_ref bigint not null,
  embedding halfvec not null,
  -- As `memory.state` says, so that a search does not read the memories to leave out hidden ones.
  active boolean not null default true,
  constraint memory_embedding_pkey primary key (space_ref, memory_ref)
) with (toast_tuple_target = 8160);
create index memory_embedding_owner on mnemograph.memory_embedding (owner_ref, space_ref) where active;
create index memory_embedding_memory on mnemograph.memory_embedding (memory_ref);
-- Vectors that fit into an index entry (2.7 kB) are read from here in their owner's order, without their rows: 570 pages instead
-- of 2,713 for 5,000 vectors of 384 dimensions.
create index memory_embedding_near on mnemograph.memory_embedding (owner_ref, space_ref, memory_ref) include (embedding)
  where active and vector_dims(embedding) <= 1300;

-- Vectors of the store's items, one for each indexed text. Deleted with their item.
create table mnemograph.store_embedding (
  item_ref bigint not null
    constraint store_embedding_item_ref_fkey references mnemograph.store_item (ref) on delete cascade,
  space_ref bigint not null
    constraint store_embedding_space_ref_fkey references mnemograph.embedding_space (id),
  tenant_id text not null,
  -- The item's revision that they were made from: a search ignores those of another one.
  revision bigint not null,
  embeddings halfvec[] not null,
  constraint store_embedding_pkey primary key (item_ref, space_ref)
);
