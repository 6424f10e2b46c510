-- Changes that wait: for the user's consent, or for a second signal.

create table consent_request (
  ref bigint generated always as identity primary key,
  id uuid not null constraint consent_request_id unique,
  owner_ref bigint not null references owner (id) on delete cascade,
  tenant_id text not null,
  user_id text not null,
  app_id text not null,
  rule text not null constraint consent_request_rule check (rule in ('consent', 'signals')),
  category text not null,
  key text,
  -- What it is about: the slot, or the statement itself where there is none.
  slot text not null,
  -- The value, normalised: the same value in other letters is the same proposal.
  normal_value text not null,
  content_hash text not null,
  -- The memory as it would be written.
  draft jsonb not null,
  status text not null default 'pending'
    constraint consent_request_status check (status in ('pending', 'approved', 'refused', 'superseded', 'expired')),
  seen_count integer not null default 1,
  -- Where it was said, each once: what makes two of them independent.
  signals jsonb not null default '[]',
  proposed_by text not null,
  -- The memory that came of it.
  memory_id uuid,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- Until then nobody is asked.
  ask_at timestamptz not null default now(),
  decided_at timestamptz,
  decided_by text,
  decided_via text,
  evidence jsonb,
  constraint consent_request_decided check ((status = 'pending') = (decided_at is null))
);
-- Decides which of several proposals for a slot is the one that waits.
create unique index consent_request_pending on consent_request (owner_ref, md5(app_id), category, slot)
  where status = 'pending';
create index consent_request_slot on consent_request (owner_ref, category, decided_at) where status in ('pending', 'refused');
create index consent_request_list on consent_request (owner_ref, ref desc);
create index consent_request_due on consent_request (expires_at) where status = 'pending';
