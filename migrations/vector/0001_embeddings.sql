-- Vectors of memories. Run only when embeddings are configured: everything else works without pgvector.

create table embedding_space (
  id integer generated always as identity primary key,
  -- The model that made the vectors.
  name text not null,
  dimensions integer not null constraint embedding_space_dimensions check (dimensions > 0),
  constraint embedding_space_identity unique (name)
);

-- Apart from `memory`, so that touching a memory does not rewrite its vector, and a change of model is a
-- re-embedding into another space.
create table memory_embedding (
  space_ref integer not null references embedding_space (id),
  memory_ref bigint not null references memory (ref) on delete cascade,
  owner_ref bigint not null,
  embedding halfvec not null,
  -- Kept as `memory.state` says, so that a search need not read the memories to leave out the hidden ones.
  active boolean not null default true,
  constraint memory_embedding_pkey primary key (space_ref, memory_ref)
);
create index memory_embedding_owner on memory_embedding (owner_ref, space_ref) where active;
create index memory_embedding_memory on memory_embedding (memory_ref);
