-- From the last schema before version 1 (commit c44db68) to version 1, first part: moves its tables out of the way. All of it is one
-- transaction with version 1 itself and the second part. No other process may work on the schema meanwhile.

do $$
  declare
    old record;
  begin
    set local search_path = mnemograph, pg_temp;
    for old in
      select p.oid::regprocedure as signature from pg_proc p
      where p.pronamespace = quote_ident(current_schema())::regnamespace and (
        p.proname like 'tenant\_of\_%' or p.proname like 'reload\_%' or p.proname in (
          'conversation', 'conversation_messages', 'count_revision', 'current_tenant', 'isolate_tables', 'keep_memory_source',
          'look_at_notes', 'meet_in_checkpoints', 'one_edit_away', 'own_items', 'pulse', 'round_news', 'sees_all_tenants',
          'thread_ids_of_other_tenants', 'threads_elsewhere', 'tick_memory'
        )
      )
    loop
      -- With the triggers and policies that call it.
      execute format('drop function if exists %s cascade', old.signature);
    end loop;
    for old in
      select c.oid, c.relname, c.relkind from pg_class c
      where c.relnamespace = quote_ident(current_schema())::regnamespace and c.relkind = 'r' and c.relname in (
        'change_log', 'compared_pair', 'consent_request', 'dead_letter', 'embedding_space', 'energy', 'event', 'held_process',
        'history', 'isolation_migration', 'memory', 'memory_embedding', 'memory_source', 'memory_term', 'message',
        'message_term', 'migration', 'migration_checksum', 'note_source', 'owner', 'owner_task', 'relation',
        'search_language', 'shown', 'store_embedding', 'store_item', 'summary', 'thread', 'thread_claim', 'thread_task',
        'usage', 'vector_migration'
      )
    loop
      execute format('alter table %I no force row level security, disable row level security', old.relname);
      execute format('alter table %I rename to %I', old.relname, 'before_' || old.relname);
    end loop;
    -- Names of indexes are taken as well, and with them those of keys.
    for old in
      select i.relname from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
      where t.relnamespace = quote_ident(current_schema())::regnamespace and t.relname like 'before\_%'
    loop
      execute format('alter index %I rename to %I', old.relname, left('before_' || old.relname, 63));
    end loop;
    for old in
      select s.relname from pg_class s
      join pg_depend d on d.objid = s.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
      join pg_class t on t.oid = d.refobjid
      where s.relkind = 'S' and t.relnamespace = quote_ident(current_schema())::regnamespace and t.relname like 'before\_%'
    loop
      execute format('alter sequence %I rename to %I', old.relname, left('before_' || old.relname, 63));
    end loop;
  end
$$;
