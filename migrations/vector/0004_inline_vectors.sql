-- A search reads every vector of an owner: they are kept where that is cheap.

-- Vectors of up to about 4,000 dimensions lie in their rows: looking each up elsewhere takes three to four times as long
-- (1,536 dimensions). Rows written before stay as they are until they are written again.
alter table memory_embedding set (toast_tuple_target = 8160);

-- Vectors that fit into an index entry (2.7 kB) lie in owner's order as well, and are read without their rows, which lie
-- in the order of writing: 570 pages instead of 2,713 for 5,000 vectors of 384 dimensions.
create index memory_embedding_near on memory_embedding (owner_ref, space_ref, memory_ref) include (embedding)
  where active and vector_dims(embedding) <= 1300;
