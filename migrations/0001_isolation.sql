-- Row-level security by tenant. A statement sees the rows of one tenant: the one that its transaction names in the setting
-- `mnemograph.tenant_id`, as "t:" and the tenant's id ("t:" alone for no tenant; the letters distinguish it from a setting that
-- is not there). Work across tenants sets "*", which only the role that owns the tables may do.
--
-- LangGraph's checkpoints know no tenant and stay outside: its saver sets none.

-- The tenant of this transaction; null for all. A statement without one is a mistake that an empty result would hide.
create function mnemograph.current_tenant() returns text language plpgsql stable as $$
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
$$;

create function mnemograph.sees_all_tenants() returns boolean language plpgsql stable as $$
  begin
    if current_setting('mnemograph.tenant_id', true) is distinct from '*' then
      return false;
    elsif (select pg_has_role(c.relowner, 'usage') from pg_class c where c.oid = 'mnemograph.thread'::regclass) then
      return true;
    end if;
    raise exception 'only the role that owns the tables may work across tenants' using errcode = 'MN002';
  end
$$;

-- Isolates the tables that are not yet; runs after every migration. A table without a tenant of its own gets a column for it:
-- policies then compare a value instead of looking up a parent for every row, and a row may come in the same statement as its
-- parent, which such a lookup would not see yet.
create function mnemograph.isolate_tables() returns void language plpgsql set search_path = mnemograph, pg_temp as $$
  declare
    t record;
    parent text;
    tenant text;
  begin
    for t in
      select c.relname, array(
        select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      ) as columns
      from pg_class c
      where c.relnamespace = quote_ident(current_schema())::regnamespace and c.relkind = 'r' and not c.relforcerowsecurity
    loop
      parent := case
        -- Some rows belong to a thread and others to an owner.
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
        execute format('alter table %I add column isolation_tenant text', t.relname);
        execute format('update %I x set isolation_tenant = %s', t.relname, parent);
        execute format('alter table %I alter column isolation_tenant set not null', t.relname);
        execute format(
          'alter table %I alter column isolation_tenant set default '
          'substring(current_setting(''mnemograph.tenant_id'', true) from ''^t:(.*)$'')',
          t.relname
        );
        -- For work across tenants, and by roles that are exempt: there the default is null.
        execute format(
          'create function %I() returns trigger language plpgsql set search_path = %I, pg_temp as %L',
          'tenant_of_' || t.relname, current_schema(),
          format('declare x record := new; begin new.isolation_tenant := %s; return new; end', parent)
        );
        execute format(
          'create trigger isolation before insert on %I for each row when (new.isolation_tenant is null) '
          'execute function %I()',
          t.relname, 'tenant_of_' || t.relname
        );
      else
        continue;
      end if;
      execute format(
        'create policy tenant on %I using (%I = (select current_tenant()) or (select sees_all_tenants()))',
        t.relname, tenant
      );
      execute format('alter table %I enable row level security, force row level security', t.relname);
    end loop;
  end
$$;

-- Under row-level security an index on a digest is not used, since a digest is not leakproof. Equality is, and these indexes take
-- ids of any length, and as many entries of one id as there are. They hold rows without the id too: a plan for any id cannot use
-- an index that leaves those out.
create index thread_isolated_user on mnemograph.thread using spgist (user_id);
create index thread_isolated_app on mnemograph.thread using spgist (app_id);
create index thread_isolated_id on mnemograph.thread using spgist (thread_id);
create index owner_isolated_user on mnemograph.owner using spgist (user_id);
create index owner_isolated_app on mnemograph.owner using spgist (app_id);
create index event_isolated_user on mnemograph.event using spgist (user_id);
