-- Background work that is to be done once, by one worker at a time: what is due, who is at it, how far it has come.
--
-- A row for each kind of each thread, user or app. `retry_at` says when it is due; a worker takes it until `lease_until`, and
-- `lease` fences it: a worker whose lease ran out has a lower number than the one that took over. A piece that was given up
-- (`given_up_at`) stays as a row of its own, for people to look at, and the work goes on after it. Rows go with their thread or
-- owner.
create table work (
  id bigint generated always as identity constraint work_pkey primary key,
  -- The word of `status`, `jobs`, queues and flags: "facts", "notes".
  kind text not null,
  thread_ref bigint references thread (id) on delete cascade,
  owner_ref bigint references owner (id) on delete cascade,
  -- Up to where it is done: of summaries, facts and notes a seq, of episodes a turn, of an owner's work its revision. Of a piece
  -- that was given up: where it began.
  done_until bigint not null,
  done_at timestamptz,
  -- How far the piece in hand has come, as its kind writes it; of one that was given up, where it ended.
  progress jsonb,
  attempts integer not null default 0,
  lease bigint not null default 0,
  lease_until timestamptz,
  retry_at timestamptz,
  error text,
  -- What the model said instead of an answer, of a piece that was given up.
  output text,
  given_up_at timestamptz,
  constraint work_whose check (num_nonnulls(thread_ref, owner_ref) = 1)
);
create unique index work_of_thread on work (thread_ref, kind) where given_up_at is null;
create unique index work_of_owner on work (owner_ref, kind) where given_up_at is null;
create index work_due on work (kind, (coalesce(lease_until, retry_at))) where given_up_at is null;
create index work_given_up on work (given_up_at) where given_up_at is not null;
create index work_given_up_thread on work (thread_ref) where given_up_at is not null;
create index work_given_up_owner on work (owner_ref) where given_up_at is not null;

-- What was under way goes on: its lease runs out, and another worker takes it over.
insert into work (kind, thread_ref, done_until, attempts, lease, lease_until, retry_at, error)
select case k.task when 'extract' then 'facts' when 'compress' then 'episodes' else 'notes' end,
  k.thread_ref, k.done_until, k.attempts, k.attempts, k.lease_until, k.retry_at, k.error
from thread_task k;
-- Ticks are not revisions: where anything changed since, all of it counts as changed.
insert into work (kind, owner_ref, done_until, done_at, attempts, lease, lease_until, retry_at, error)
select case k.task when 'compact' then 'compaction' when 'consolidate' then 'consolidation' else k.task end,
  k.owner_ref, case when k.done_until >= o.tick then o.revision else 0 end, k.done_at, k.attempts, k.attempts,
  k.lease_until, k.retry_at, k.error
from owner_task k join owner o on o.id = k.owner_ref;
insert into work (kind, thread_ref, done_until, attempts, lease, lease_until, retry_at, error)
select 'summaries', l.thread_ref, coalesce(d.end_seq, -1), l.attempts, l.attempts, l.lease_until, l.retry_at, l.error
from (
  select distinct on (thread_ref) thread_ref,
    case when status = 'completed' then 0 else attempts end as attempts,
    case when status = 'processing' then lease_until end as lease_until,
    case when status = 'failed' then retry_at end as retry_at,
    case when status = 'failed' then error end as error
  from summary order by thread_ref, id desc
) l
left join (
  select thread_ref, max(end_seq) as end_seq from summary where status = 'completed' group by 1
) d on d.thread_ref = l.thread_ref;
insert into work (kind, thread_ref, owner_ref, done_until, progress, error, output, given_up_at)
select case d.task when 'extract' then 'facts' when 'compress' then 'episodes' when 'note' then 'notes'
    when 'compact' then 'compaction' when 'consolidate' then 'consolidation' else d.task end,
  d.thread_ref, d.owner_ref,
  case d.task
    when 'compress' then (
      select count(*) from message m where m.thread_ref = d.thread_ref and m.role = 'user' and m.seq < d.start_seq
    )
    else coalesce(d.start_seq - 1, 0)
  end,
  jsonb_build_object('startSeq', d.start_seq, 'endSeq', d.end_seq, 'doneUntil', case d.task
    when 'compress' then (
      select count(*) from message m where m.thread_ref = d.thread_ref and m.role = 'user' and m.seq <= d.end_seq
    )
    else d.end_seq
  end),
  d.error, d.output, d.created_at
from dead_letter d;

drop table thread_task, owner_task, dead_letter;

do $do$
begin
  -- A summary in the making is one that a worker is at.
  execute replace(
    replace(
      pg_get_functiondef(p.oid), 's.status = ''processing'' and s.lease_until > asked_at',
      's.status = ''processing'' and exists (
          select from ' || quote_ident(current_schema()) || '.work w
          where w.thread_ref = thread_id and w.kind = ''summaries'' and w.given_up_at is null and w.lease_until > asked_at
        )'
    ),
    ' and s.rolled_back_at is null', ''
  )
  from pg_proc p where p.pronamespace = quote_ident(current_schema())::regnamespace and p.proname = 'conversation';
  execute format(
    $body$
      create or replace function %1$I.look_at_notes() returns trigger
      language plpgsql set search_path = %1$I, pg_temp as $$
      begin
        insert into work as k (kind, owner_ref, done_until, retry_at) values ('compaction', new.owner_ref, 0, new.updated_at)
        on conflict (owner_ref, kind) where given_up_at is null do update set retry_at = case
          when k.attempts > 0 then coalesce(k.retry_at, excluded.retry_at) else least(k.retry_at, excluded.retry_at)
        end;
        return null;
      end
      $$
    $body$,
    current_schema()
  );
end
$do$;

drop index summary_due;
alter table summary
  drop constraint summary_has_lease,
  drop column attempts,
  drop column lease_until,
  drop column retry_at,
  drop column error,
  drop column rolled_back_at;

-- Nothing counts ticks any more: copies of rows in a process are gone, and work goes by revisions.
drop trigger memory_tick on memory;
drop trigger memory_gone on memory;
drop trigger memory_moved on memory;
drop trigger message_gone on message;
drop trigger thread_gone on thread;
drop trigger thread_moved on thread;
drop function tick_memory, reload_of_memories, reload_of_messages, reload_of_threads, reload_of_move, reload_owners;
do $do$
declare
  held regprocedure;
begin
  select p.oid into held from pg_proc p
  where p.pronamespace = quote_ident(current_schema())::regnamespace and p.proname = 'pulse';
  execute format('drop function %s', held);
end
$do$;
drop table held_process;
drop index memory_tick;
alter table owner
  drop column tick,
  drop column ticked_by,
  drop column reload_tick,
  drop column said_tick,
  drop column said_in,
  drop column said_elsewhere_tick;
alter table memory drop column tick;
alter table message drop column tick;
