-- Functions that read keep one generic plan of each statement, whatever the session says: planning a recall takes longer than running
-- it, and JIT hundreds of times longer. Not on Citus, which distributes only custom plans.
do $$
  declare
    reading regprocedure;
  begin
    if exists (select from pg_catalog.pg_extension where extname = 'citus') then
      return;
    end if;
    for reading in
      select p.oid from pg_catalog.pg_proc p join pg_catalog.pg_language l on l.oid = p.prolang
      where p.pronamespace = (select c.relnamespace from pg_catalog.pg_class c where c.oid = 'mnemograph.memory'::regclass)
        and l.lanname = 'plpgsql' and p.provolatile = 's' and p.pronargs > 0
    loop
      execute format('alter function %s set plan_cache_mode to force_generic_plan', reading);
      execute format('alter function %s set jit to off', reading);
    end loop;
  end
$$;
