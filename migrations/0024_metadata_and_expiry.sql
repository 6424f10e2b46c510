-- What programs note beside a memory, and when it ceases to hold by itself.
alter table memory
  add column metadata jsonb not null default '{}'
    constraint memory_metadata check (jsonb_typeof(metadata) = 'object'),
  add column expires_at timestamptz;

-- What is due: memories leave this index once they are hidden for good, so that it stays small.
create index memory_expiry on memory (expires_at) where state = 'active' and expires_at is not null;

-- Both are changes of a memory, which who decides about it must not overlook.
drop trigger memory_revision on memory;
create trigger memory_revision before update of
  category, key, value, content, importance, confidence, pinned, state, tags, trust, seen_count, valid_from, valid_to,
  superseded_by, purge_at, metadata, expires_at
on memory for each row execute function count_revision();
