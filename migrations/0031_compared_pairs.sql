-- Pairs of memories that a model compared when they were consolidated, so that it is not asked about them again.
create table compared_pair (
  owner_ref bigint not null references owner (id) on delete cascade,
  -- A digest of both ids and of what was compared: with other words it is another pair.
  fingerprint text not null,
  verdict text not null constraint compared_pair_verdict
    check (verdict in ('same', 'updates', 'contradicts', 'related', 'unrelated')),
  compared_at timestamptz not null default now(),
  constraint compared_pair_pkey primary key (owner_ref, fingerprint)
);
create index compared_pair_age on compared_pair (compared_at);
