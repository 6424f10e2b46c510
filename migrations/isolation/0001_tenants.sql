-- Row-level security by tenant. A statement sees the rows of one tenant: the one that its transaction names in the
-- setting `mnemograph.tenant_id`, as "t:" and the tenant's id ("t:" alone for no tenant). The letters in front tell "no
-- tenant" from "nothing was set". Work across tenants sets "*", which only the role that owns the tables may.
--
-- LangGraph's checkpoints know no tenant and stay outside: its saver sets none.

do $do$
begin
  -- The tenant of this transaction; null for all. A statement without one is a mistake that an empty result would hide.
  execute format($body$
    create function %1$I.current_tenant() returns text language plpgsql stable as $$
    declare
      setting text := current_setting('mnemograph.tenant_id', true);
    begin
      if left(setting, 2) = 't:' then
        return substr(setting, 3);
      elsif setting = '*' then
        return null;
      end if;
      raise exception 'a statement named no tenant' using errcode = 'MN001';
    end
    $$
  $body$, current_schema());

  execute format($body$
    create function %1$I.sees_all_tenants() returns boolean language plpgsql stable
    set search_path = %1$I, pg_temp as $$
    begin
      if current_setting('mnemograph.tenant_id', true) is distinct from '*' then
        return false;
      elsif (select pg_has_role(c.relowner, 'usage') from pg_class c where c.oid = 'thread'::regclass) then
        return true;
      end if;
      raise exception 'only the role that owns the tables may work across tenants' using errcode = 'MN002';
    end
    $$
  $body$, current_schema());

  -- Isolates the tables that are not yet: run it after every migration. A table without a tenant of its own gets a
  -- column for it: policies then compare a value instead of looking up a parent for every row, and a row may come in the
  -- same statement as its parent, which such a lookup would not see yet.
  execute format($body$
    create function %1$I.isolate_tables() returns void language plpgsql set search_path = %1$I, pg_temp as $$
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
end
$do$;

-- Under row-level security an index on md5 is not used: md5 is not leakproof. Equality is, and hash indexes take ids of
-- any length.
create index thread_isolated_user on thread using hash (user_id);
create index thread_isolated_app on thread using hash (app_id);
create index thread_isolated_id on thread using hash (thread_id);
create index owner_isolated_user on owner using hash (user_id);
create index owner_isolated_app on owner using hash (app_id);
create index event_isolated_user on event using hash (user_id);
