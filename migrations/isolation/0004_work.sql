-- What gave rows of tables that are gone their tenant; `work` has its own, as every table that `isolate_tables` finds.
do $do$
declare
  gone text;
begin
  foreach gone in array array['thread_task', 'owner_task', 'dead_letter', 'held_process'] loop
    execute format('drop function if exists %I.%I()', current_schema(), 'tenant_of_' || gone);
  end loop;
end
$do$;
