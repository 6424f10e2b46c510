-- Ids are kept apart by a digest that two ids cannot be made to share, as they can md5: where an index decides that
-- two rows are one, whoever chooses an id could otherwise choose to be somebody else. `sha256` takes bytes; text is
-- written as them with its backslashes doubled, so that none is read as the beginning of an escape (`convert_to` may
-- not stand in an index).

drop index owner_identity;
create unique index owner_identity on owner (
  sha256(replace(tenant_id, E'\\', E'\\\\')::bytea), sha256(replace(user_id, E'\\', E'\\\\')::bytea),
  sha256(replace(app_id, E'\\', E'\\\\')::bytea)
);

drop index thread_identity, thread_owner, thread_app, thread_checkpoint;
create unique index thread_identity on thread (
  sha256(replace(tenant_id, E'\\', E'\\\\')::bytea), sha256(replace(thread_id, E'\\', E'\\\\')::bytea)
);
create index thread_owner on thread (
  sha256(replace(tenant_id, E'\\', E'\\\\')::bytea), sha256(replace(user_id, E'\\', E'\\\\')::bytea),
  last_activity_at desc
);
create index thread_app on thread (
  sha256(replace(tenant_id, E'\\', E'\\\\')::bytea), sha256(replace(app_id, E'\\', E'\\\\')::bytea),
  last_activity_at desc
);
create index thread_checkpoint on thread (sha256(replace(thread_id, E'\\', E'\\\\')::bytea));

drop index memory_slot, memory_content, memory_quarantine;
create unique index memory_slot on memory (owner_ref, sha256(replace(app_id, E'\\', E'\\\\')::bytea), category, key)
  where state = 'active' and key is not null;
create unique index memory_content
  on memory (owner_ref, sha256(replace(app_id, E'\\', E'\\\\')::bytea), kind, content_hash) where state = 'active';
create unique index memory_quarantine
  on memory (owner_ref, sha256(replace(app_id, E'\\', E'\\\\')::bytea), kind, content_hash) where state = 'quarantined';

drop index consent_request_pending;
create unique index consent_request_pending
  on consent_request (owner_ref, sha256(replace(app_id, E'\\', E'\\\\')::bytea), category, slot) where status = 'pending';

drop index event_owner;
create index event_owner on event (
  sha256(replace(tenant_id, E'\\', E'\\\\')::bytea), sha256(replace(user_id, E'\\', E'\\\\')::bytea), created_at desc
);

do $do$
begin
  execute format(
    $body$
      create or replace function %1$I.thread_ids_of_other_tenants(ids text[], tenant text) returns setof text
      language plpgsql security definer set search_path = %1$I, pg_temp as $$
      declare
        before text := coalesce(current_setting('mnemograph.tenant_id', true), '');
      begin
        perform set_config('mnemograph.tenant_id', '*', true);
        return query
          select distinct t.thread_id from thread t
          where sha256(replace(t.thread_id, E'\\', E'\\\\')::bytea)
              in (select sha256(replace(id, E'\\', E'\\\\')::bytea) from unnest(ids) id)
            and t.thread_id = any (ids) and t.tenant_id <> tenant;
        perform set_config('mnemograph.tenant_id', before, true);
      end
      $$
    $body$,
    current_schema()
  );
end
$do$;

-- A memory of an app is seen by all of its users: it names no thread of one of them, nor what was said there.
update memory m set thread_ref = null, source_seqs = '{}', evidence = null
where m.user_id = '' and not exists (
  select from thread t where t.id = m.thread_ref and t.user_id = '' and t.app_id = m.app_id
);
-- Nor who spoke, where a user's conversation was the source: notes are made of nothing else.
delete from memory_term t using memory m
where m.ref = t.memory_ref and m.user_id = '' and m.kind = 'note' and left(t.lexeme, 1) = '@';
update memory set actor_id = null where user_id = '' and kind = 'note';
update consent_request
set draft = draft - 'source' - 'actorId', evidence = null
where user_id = '';

-- Steps of agents were kept under agent and title with a space between, so that "a b" and "c" met "a" and "b c". Where
-- the agent's name shows how the two were cut, they go on under the key that they have now.
update memory set key = key || '_' || left(encode(sha256(replace(
  '["' || agent_id || '","' || substr(key, length(agent_id) + 2) || '"]', E'\\', E'\\\\'
)::bytea), 'hex'), 32)
where kind = 'procedure' and agent_id ~ '^[a-z0-9]+(_[a-z0-9]+)*$' and left(key, length(agent_id) + 1) = agent_id || '_'
  and length(key) <= 80;
