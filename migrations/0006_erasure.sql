-- What forgetting, exporting and pruning look things up by.

-- The app of the memory that was changed, '' for none: entries outlive their memory, and forgetting a user within
-- one app must find them all the same.
alter table history add column app_id text not null default '';
alter table change_log add column app_id text not null default '';
update history h set app_id = m.app_id from memory m where m.id = h.memory_id and m.app_id <> '';
update change_log c set app_id = m.app_id from memory m where m.id = c.memory_id and m.app_id <> '';

-- From the thread ids of LangGraph's checkpoints, which know no tenant, to the threads that use them.
create index thread_checkpoint on thread (md5(thread_id));
-- Export reads an owner's audit trail page by page.
create index history_export on history (owner_ref, id);

-- Those of `ids` that another tenant uses as well. Runs as the owner of the tables and over all tenants, also where
-- row-level security hides the others: all it tells is that an id is taken.
do $do$
begin
  execute format(
    $body$
      create function %1$I.thread_ids_of_other_tenants(ids text[], tenant text) returns setof text
      language plpgsql security definer set search_path = %1$I, pg_temp as $$
      declare
        before text := coalesce(current_setting('mnemograph.tenant_id', true), '');
      begin
        perform set_config('mnemograph.tenant_id', '*', true);
        return query
          select distinct t.thread_id from thread t
          where md5(t.thread_id) in (select md5(id) from unnest(ids) id) and t.thread_id = any (ids)
            and t.tenant_id <> tenant;
        perform set_config('mnemograph.tenant_id', before, true);
      end
      $$
    $body$,
    current_schema()
  );
end
$do$;
