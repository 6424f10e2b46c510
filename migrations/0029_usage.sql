-- What background calls of models took, one row a call, and how much energy each tenant has left.
create table usage (
  -- Made by who charges the call: a charge that is sent again is no second one.
  id uuid constraint usage_pkey primary key,
  tenant_id text not null,
  user_id text not null,
  app_id text not null,
  thread_id text,
  kind text not null constraint usage_kind check (
    kind in ('summary', 'facts', 'episode', 'procedure', 'note', 'compaction', 'insights', 'consolidation')
  ),
  input_tokens integer not null,
  output_tokens integer not null,
  units double precision not null,
  created_at timestamptz not null
);
create index usage_time on usage (created_at);
create index usage_owner on usage (
  sha256(replace(tenant_id, E'\\', E'\\\\')::bytea), sha256(replace(user_id, E'\\', E'\\\\')::bytea), created_at
);

-- A tenant without a row is at its capacity.
create table energy (
  tenant_id text not null,
  -- What was left at `refilled_at`; below zero where more was spent than there was.
  units double precision not null,
  refilled_at timestamptz not null,
  -- As whoever charged last has it, for readers that have no settings.
  capacity_units double precision not null,
  refill_units_per_hour double precision not null
);
create unique index energy_tenant on energy (sha256(replace(tenant_id, E'\\', E'\\\\')::bytea));
