-- When what may be held of an owner in a process last changed, so that a copy is brought up to date by what changed since.
--
-- A transaction that changes any of it raises the owner's tick, under the lock of the owner's row, and its rows carry the
-- tick. Writers of an owner take turns on that lock: in one snapshot, the rows with a tick above a copy's are all that changed.
alter table owner
  add column tick bigint not null default 1,
  -- The transaction that raised it last.
  add column ticked_by xid8,
  -- Copies older than this are read anew: rows were deleted, moved or imported.
  add column reload_tick bigint not null default 0,
  -- When messages were last added, in which thread; and when last in any other.
  add column said_tick bigint not null default 0,
  add column said_in bigint,
  add column said_elsewhere_tick bigint not null default 0;
alter table memory add column tick bigint not null default 0;
alter table message add column tick bigint not null default 0;
create index memory_tick on memory (owner_ref, tick);

do $do$
begin
  -- Whoever locks an owner raises its tick, which this only reads: the owner's row cannot be changed here and by the statement
  -- that writes the memory as well. For everybody else, as for a cascade, it is raised here. In a restored database the
  -- numbers of transactions come again, and only the row itself (xmin) says whether this one wrote it.
  execute format(
    $body$
      create function %1$I.tick_memory() returns trigger language plpgsql as $$
      begin
        select o.tick into new.tick from %1$I.owner o
        where o.id = new.owner_ref and o.ticked_by = pg_current_xact_id() and o.xmin = pg_current_xact_id()::xid;
        if not found then
          update %1$I.owner o set tick = o.tick + 1, ticked_by = pg_current_xact_id()
          where o.id = new.owner_ref returning o.tick into new.tick;
        end if;
        -- Of an owner that is not there, the foreign key tells.
        new.tick := coalesce(new.tick, 0);
        return new;
      end
      $$
    $body$,
    current_schema()
  );

  -- Has copies of these owners read anew, since they lack what is gone or came. The new tick is above `above`, the ticks of
  -- rows that came from another owner. An owner of whom this transaction has said so stays as it is.
  execute format(
    $body$
      create function %1$I.reload_owners(refs bigint[], above bigint) returns void language plpgsql as $$
      declare
        ref bigint;
      begin
        -- In one order for all who lock several.
        for ref in select distinct r from unnest(refs) r order by r loop
          update %1$I.owner o
          set tick = greatest(o.tick, above) + 1, reload_tick = greatest(o.tick, above) + 1,
            ticked_by = pg_current_xact_id()
          where o.id = ref and (
            o.tick <= above or o.reload_tick <> o.tick or o.xmin <> pg_current_xact_id()::xid
              or o.ticked_by is distinct from pg_current_xact_id()
          );
        end loop;
      end
      $$;
      create function %1$I.reload_of_memories() returns trigger language plpgsql as $$
      declare
        one record;
      begin
        for one in
          select owner_ref, bool_or(state = 'active') as active, max(tick) as tick from gone group by 1 order by 1
        loop
          if one.active then
            perform %1$I.reload_owners(array[one.owner_ref], 0);
          else
            -- Copies that never heard that it was hidden.
            update %1$I.owner o set reload_tick = one.tick where o.id = one.owner_ref and o.reload_tick < one.tick;
          end if;
        end loop;
        return null;
      end
      $$;
      create function %1$I.reload_of_messages() returns trigger language plpgsql as $$
      begin
        -- Of a thread that goes as well, its own trigger tells.
        perform %1$I.reload_owners(array(
          select t.owner_ref from (select distinct thread_ref from gone) g
          cross join lateral (select owner_ref from %1$I.thread where id = g.thread_ref limit 1) t
        ), 0);
        return null;
      end
      $$;
      create function %1$I.reload_of_threads() returns trigger language plpgsql as $$
      begin
        perform %1$I.reload_owners(array(select owner_ref from gone), 0);
        return null;
      end
      $$;
      create function %1$I.reload_of_move() returns trigger language plpgsql as $$
      begin
        perform %1$I.reload_owners(array[old.owner_ref], 0);
        -- What moved keeps the ticks it had: later ones must be above them.
        perform %1$I.reload_owners(
          array[new.owner_ref], coalesce((select o.tick from %1$I.owner o where o.id = old.owner_ref), 0)
        );
        return null;
      end
      $$
    $body$,
    current_schema()
  );
end
$do$;

-- All columns but those that tell of mere use.
create trigger memory_tick before insert or update of
  id, owner_ref, tenant_id, user_id, app_id, kind, category, key, value, content, content_hash, importance, confidence,
  pinned, state, tags, agent_id, run_id, actor_id, role, thread_ref, source_seqs, evidence, turn_start, turn_end,
  asserted_turn, valid_from, valid_to, superseded_by, seen_count, purge_at, created_at, updated_at,
  origin, trust, asserted_at, metadata, expires_at
on memory for each row execute function tick_memory();
create trigger memory_gone after delete on memory referencing old table as gone
  for each statement execute function reload_of_memories();
create trigger message_gone after delete on message referencing old table as gone
  for each statement execute function reload_of_messages();
create trigger thread_gone after delete on thread referencing old table as gone
  for each statement execute function reload_of_threads();
create trigger memory_moved after update of owner_ref on memory for each row
  when (old.owner_ref is distinct from new.owner_ref) execute function reload_of_move();
create trigger thread_moved after update of owner_ref on thread for each row
  when (old.owner_ref is distinct from new.owner_ref) execute function reload_of_move();
