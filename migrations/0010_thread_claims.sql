-- Whose LangGraph checkpoints are: a thread's owner is known before anything of it is read or written.

-- The thread id under which `memory.checkpointer()` keeps the thread's checkpoints; null until it is asked for them.
-- LangGraph's tables know no tenant: the first to use a thread id keeps its checkpoints under that id, any further
-- tenant's thread of the same id under a name of its own. Threads that share an id already get names of their own as
-- well: what stands under the id is of all of them.
alter table thread add column checkpoint_thread_id text;
update thread t set checkpoint_thread_id = t.thread_id
where t.thread_id not like 'mnemograph:%' and not exists (
  select from thread o where md5(o.thread_id) = md5(t.thread_id) and o.thread_id = t.thread_id and o.id <> t.id
);

-- Digests of users' messages in the state of a graph whose checkpointer is not ours: the latest that the owner's own
-- runs began with, and those of runs that were refused, which such a checkpointer has written by then.
alter table thread add column own_said text[] not null default '{}';
alter table thread add column strangers_said text[] not null default '{}';

do $do$
begin
  -- Which of `ids` other tenants use as well, and whether one of those keeps its checkpoints under the id itself. As
  -- `thread_ids_of_other_tenants`, it runs as the owner of the tables and over all tenants: all it tells is that an id
  -- is taken.
  execute format(
    $body$
      create function %1$I.threads_elsewhere(ids text[], tenant text)
      returns table (id text, holds_checkpoints boolean)
      language plpgsql security definer set search_path = %1$I, pg_temp as $$
      declare
        before text := coalesce(current_setting('mnemograph.tenant_id', true), '');
      begin
        perform set_config('mnemograph.tenant_id', '*', true);
        return query
          select t.thread_id, bool_or(coalesce(t.checkpoint_thread_id = t.thread_id, false)) from thread t
          where md5(t.thread_id) in (select md5(i) from unnest(ids) i) and t.thread_id = any (ids)
            and t.tenant_id <> tenant
            -- Nobody's thread counts when it has checkpoints: it may be there for its notes alone.
            and (t.tenant_id <> ' ' or t.checkpoint_thread_id is not null)
          group by t.thread_id;
        perform set_config('mnemograph.tenant_id', before, true);
      end
      $$
    $body$,
    current_schema()
  );

  -- For a run on a checkpointer that keeps nobody apart: the checkpoints of a thread id are those of its first owner. To
  -- that one (`claimant`) it tells which of the messages in the state (`ids`, `digests`) strangers left there, and takes
  -- the others for the owner's. To everybody else it says so, and notes what they brought as strangers'; nobody's thread
  -- (tenant ' ') has the notes where there is no owner yet.
  execute format(
    $body$
      create function %1$I.meet_in_checkpoints(claimant bigint, thread text, ids text[], digests text[])
      returns table (refused boolean, strangers text[])
      language plpgsql security definer set search_path = %1$I, pg_temp as $$
      declare
        before text := coalesce(current_setting('mnemograph.tenant_id', true), '');
        owned record;
        noted text[];
      begin
        perform set_config('mnemograph.tenant_id', '*', true);
        select t.id, t.tenant_id, t.own_said into owned from thread t
        where md5(t.thread_id) = md5(thread) and t.thread_id = thread
        order by t.tenant_id = ' ', t.id limit 1 for no key update;
        select coalesce(array_agg(digest), '{}') into noted
        from thread t cross join unnest(t.strangers_said) digest
        where md5(t.thread_id) = md5(thread) and t.thread_id = thread;
        refused := owned.id is distinct from claimant;
        strangers := array(select s.id from unnest(ids, digests) s (id, digest) where s.digest = any (noted));
        if not refused and cardinality(ids) > 0 then
          update thread t set own_said = own.said
          from (select array(select digest from unnest(digests) digest where digest <> all (noted)) as said) own
          where t.id = owned.id and t.own_said is distinct from own.said;
        elsif refused then
          -- The latest are kept: who tries again and again must not fill the row.
          update thread t set strangers_said = array(
            select digest from (
              select digest, place from unnest(t.strangers_said) with ordinality old (digest, place)
              union all
              select s.digest, 1000 + s.place from unnest(ids, digests) with ordinality s (id, digest, place)
              where s.digest <> all (owned.own_said) and s.digest <> all (noted)
                and not exists (select from message m where m.thread_ref = owned.id and m.message_id = s.id)
              order by place desc limit 200
            ) latest order by place
          )
          where t.id = owned.id;
        end if;
        perform set_config('mnemograph.tenant_id', before, true);
        return next;
      end
      $$
    $body$,
    current_schema()
  );
end
$do$;
