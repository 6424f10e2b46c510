-- Vectors of LangGraph's store: those of one item, one for each text of its indexed fields.
create table store_embedding (
  item_ref bigint not null references store_item (ref) on delete cascade,
  space_ref integer not null references embedding_space (id),
  tenant_id text not null,
  -- Of which revision of the item: those of another one are passed over, whoever wrote that.
  revision bigint not null,
  embeddings halfvec[] not null,
  constraint store_embedding_pkey primary key (item_ref, space_ref)
);
