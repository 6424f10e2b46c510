-- Whose LangGraph's checkpoints are: a thread's owner is known before anything of it is read or written. Apart from the
-- threads themselves, whose rows every round writes anew.
create table thread_claim (
  thread_ref bigint not null constraint thread_claim_pkey primary key references thread (id) on delete cascade,
  -- The thread id under which `memory.checkpointer()` keeps the thread's checkpoints; null until it is asked for them.
  -- LangGraph's tables know no tenant: the first to use a thread id keeps its checkpoints under that id, any further
  -- tenant's thread of the same id under a name of its own.
  name text,
  -- Digests of users' messages in the state of a graph with another checkpointer: the latest that the owner's own runs
  -- began with, and those of runs that were refused, which such a checkpointer has written by then.
  own_said text[] not null default '{}',
  strangers_said text[] not null default '{}'
);
-- Threads that share an id already are left to get names of their own: what stands under the id is of all of them.
insert into thread_claim (thread_ref, name)
select t.id, t.thread_id from thread t
where t.thread_id not like 'mnemograph:%' and not exists (
  select from thread o where sha256(replace(o.thread_id, E'\\', E'\\\\')::bytea)
    = sha256(replace(t.thread_id, E'\\', E'\\\\')::bytea) and o.thread_id = t.thread_id and o.id <> t.id
);

do $do$
begin
  -- Which of `ids` other tenants use as well: how many, whether one of them keeps its checkpoints under the id itself, or
  -- whether nobody does (tenant ' ', for runs that name no user). As `thread_ids_of_other_tenants`, it runs as the owner
  -- of the tables and over all tenants: all it tells is that an id is taken.
  execute format(
    $body$
      create function %1$I.threads_elsewhere(ids text[], tenant text)
      returns table (id text, tenants integer, held boolean, held_by_nobody boolean)
      language plpgsql security definer set search_path = %1$I, pg_temp as $$
      declare
        before text := coalesce(current_setting('mnemograph.tenant_id', true), '');
      begin
        perform set_config('mnemograph.tenant_id', '*', true);
        return query
          select t.thread_id, count(distinct t.tenant_id) filter (where t.tenant_id <> ' ')::integer,
            coalesce(bool_or(c.name = t.thread_id) filter (where t.tenant_id <> ' '), false),
            coalesce(bool_or(c.name = t.thread_id) filter (where t.tenant_id = ' '), false)
          from thread t left join thread_claim c on c.thread_ref = t.id
          where sha256(replace(t.thread_id, E'\\', E'\\\\')::bytea)
              in (select sha256(replace(i, E'\\', E'\\\\')::bytea) from unnest(ids) i) and t.thread_id = any (ids)
            and t.tenant_id <> tenant
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
  -- has the notes where there is no owner yet.
  execute format(
    $body$
      create function %1$I.meet_in_checkpoints(claimant bigint, thread text, ids text[], digests text[])
      returns table (refused boolean, strangers text[])
      language plpgsql security definer set search_path = %1$I, pg_temp as $$
      declare
        before text := coalesce(current_setting('mnemograph.tenant_id', true), '');
        owned bigint;
        own text[];
        noted text[];
      begin
        perform set_config('mnemograph.tenant_id', '*', true);
        select t.id into owned from thread t
        where sha256(replace(t.thread_id, E'\\', E'\\\\')::bytea) = sha256(replace(thread, E'\\', E'\\\\')::bytea) and t.thread_id = thread
        order by t.tenant_id = ' ', t.id limit 1;
        insert into thread_claim as c (thread_ref) select owned where owned is not null
        on conflict (thread_ref) do update set name = c.name
        returning own_said into own;
        select coalesce(array_agg(digest), '{}') into noted
        from thread t join thread_claim c on c.thread_ref = t.id cross join unnest(c.strangers_said) digest
        where sha256(replace(t.thread_id, E'\\', E'\\\\')::bytea) = sha256(replace(thread, E'\\', E'\\\\')::bytea) and t.thread_id = thread;
        refused := owned is distinct from claimant;
        strangers := array(select s.id from unnest(ids, digests) s (id, digest) where s.digest = any (noted));
        if not refused and cardinality(ids) > 0 then
          update thread_claim c
          set own_said = array(select digest from unnest(digests) digest where digest <> all (noted))
          where c.thread_ref = owned;
        elsif refused then
          -- The latest are kept: who tries again and again must not fill the row.
          update thread_claim c set strangers_said = array(
            select digest from (
              select digest, place from unnest(c.strangers_said) with ordinality old (digest, place)
              union all
              select s.digest, 1000 + s.place from unnest(ids, digests) with ordinality s (id, digest, place)
              where s.digest <> all (own) and s.digest <> all (noted)
                and not exists (select from message m where m.thread_ref = owned and m.message_id = s.id)
              order by place desc limit 200
            ) latest order by place
          )
          where c.thread_ref = owned;
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
