-- When a memory was last said to hold, where that is later than `valid_from`: what is told late of a time in between
-- does not end it.
alter table memory add column asserted_at timestamptz;

-- Nothing ends before it begins. What was stored so before stays as it is.
alter table memory add constraint memory_interval check (valid_to >= valid_from) not valid;

-- The closed values of a slot in their order: what is told late finds its place between two of them.
create index memory_slot_past
  on memory (owner_ref, sha256(replace(app_id, E'\\', E'\\\\')::bytea), category, key, valid_from)
  where state = 'superseded' and key is not null;
