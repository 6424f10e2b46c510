-- Rows of which some are a thread's and others an owner's: their tenant is that of whichever they name.

do $do$
begin
  -- Isolates the tables that are not yet: run it after every migration. A table without a tenant of its own gets a
  -- column for it: policies then compare a value instead of looking up a parent for every row, and a row may come in the
  -- same statement as its parent, which such a lookup would not see yet.
  execute format($body$
    create or replace function %1$I.isolate_tables() returns void language plpgsql set search_path = %1$I, pg_temp as $$
    declare
      t record;
      parent text;
      tenant text;
    begin
      for t in
        select c.oid, c.relname, array(
          select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        ) as columns
        from pg_class c
        where c.relnamespace = quote_ident(current_schema())::regnamespace and c.relkind = 'r' and not c.relforcerowsecurity
      loop
        parent := case
          when array['owner_ref', 'thread_ref'] <@ t.columns then
            'coalesce((select p.tenant_id from owner p where p.id = x.owner_ref), '
            '(select p.tenant_id from thread p where p.id = x.thread_ref))'
          when 'owner_ref' = any (t.columns) then '(select p.tenant_id from owner p where p.id = x.owner_ref)'
          when 'thread_ref' = any (t.columns) then '(select p.tenant_id from thread p where p.id = x.thread_ref)'
          when 'memory_ref' = any (t.columns) then '(select p.tenant_id from memory p where p.ref = x.memory_ref)'
          when 'from_ref' = any (t.columns) then
            -- One of both may be as new as their link.
            '(select p.tenant_id from memory p where p.ref in (x.from_ref, x.to_ref) limit 1)'
        end;
        if 'tenant_id' = any (t.columns) then
          tenant := 'tenant_id';
        elsif parent is not null then
          tenant := 'isolation_tenant';
          execute format('alter table %%I add column isolation_tenant text', t.relname);
          execute format('update %%I x set isolation_tenant = %%s', t.relname, parent);
          execute format('alter table %%I alter column isolation_tenant set not null', t.relname);
          execute format(
            'alter table %%I alter column isolation_tenant set default '
            'substring(current_setting(''mnemograph.tenant_id'', true) from ''^t:(.*)$'')',
            t.relname
          );
          -- For work across tenants and by who is exempt: there the default is null.
          execute format(
            'create function %%I() returns trigger language plpgsql set search_path = %%I, pg_temp as %%L',
            'tenant_of_' || t.relname, current_schema(),
            format('declare x record := new; begin new.isolation_tenant := %%s; return new; end', parent)
          );
          execute format(
            'create trigger isolation before insert on %%I for each row when (new.isolation_tenant is null) '
            'execute function %%I()',
            t.relname, 'tenant_of_' || t.relname
          );
        else
          continue;
        end if;
        execute format(
          'create policy tenant on %%I using (%%I = (select current_tenant()) or (select sees_all_tenants()))',
          t.relname, tenant
        );
        execute format('alter table %%I enable row level security, force row level security', t.relname);
      end loop;
    end
    $$
  $body$, current_schema());

  -- Isolated before owners had any.
  if exists (
    select from pg_proc p
    where p.pronamespace = quote_ident(current_schema())::regnamespace and p.proname = 'tenant_of_dead_letter'
  ) then
    execute format($body$
      create or replace function %1$I.tenant_of_dead_letter() returns trigger language plpgsql
      set search_path = %1$I, pg_temp as $$
      declare x record := new;
      begin
        new.isolation_tenant := coalesce(
          (select p.tenant_id from owner p where p.id = x.owner_ref),
          (select p.tenant_id from thread p where p.id = x.thread_ref)
        );
        return new;
      end
      $$
    $body$, current_schema());
  end if;
end
$do$;
