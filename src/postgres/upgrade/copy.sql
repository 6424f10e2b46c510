-- From the last schema before version 1, second part: copies its rows into the tables of version 1.

-- A summary that was rolled back was no longer used.
delete from mnemograph.before_summary where rolled_back_at is not null;
alter table mnemograph.before_summary rename start_round to start_turn;
alter table mnemograph.before_summary rename end_round to end_turn;
alter table mnemograph.before_shown rename left_out to omitted;
alter table mnemograph.before_thread add column checkpoint_name text;
update mnemograph.before_thread t set checkpoint_name = c.name from mnemograph.before_thread_claim c where c.thread_ref = t.id;

-- Messages are kept in LangChain's stored form.
update mnemograph.before_message m
set serialised = '{"type":"' || replace(lower(s.class), 'chat', 'generic') || '","data":' || substr(m.serialised, s.length + 1)
from (
  select x.thread_ref, x.seq, found[2] as class, length(found[1]) as length
  from mnemograph.before_message x
  cross join lateral regexp_match(
    x.serialised,
    '^(\{"lc":1,"type":"constructor","id":\["langchain_core","messages","(Human|AI|System|Tool|Function|Chat)Message(?:Chunk)?"\],"kwargs":)'
  ) found
  where found is not null
) s
where m.thread_ref = s.thread_ref and m.seq = s.seq;

do $$
  declare
    copied text;
    columns text;
    identity_column text;
    sequence text;
    allowed record;
  begin
    set local search_path = mnemograph, pg_temp;
    -- In the order of their references.
    foreach copied in array array[
      'owner', 'thread', 'message', 'message_term', 'summary', 'shown', 'memory', 'memory_term', 'memory_source', 'relation',
      'note_source', 'change_log', 'history', 'consent_request', 'compared_pair', 'event', 'usage', 'store_item',
      'embedding_space', 'memory_embedding', 'store_embedding'
    ] loop
      continue when to_regclass(copied) is null;
      -- The columns that both have, but for those that are computed.
      select string_agg(quote_ident(n.attname), ', '), max(n.attname) filter (where n.attidentity <> '')
      into columns, identity_column
      from pg_attribute n join pg_attribute o on o.attname = n.attname and o.attrelid = ('before_' || copied)::regclass
      where n.attrelid = copied::regclass and n.attnum > 0 and not n.attisdropped and n.attgenerated = '';
      execute format(
        'insert into %I (%s) overriding system value select %s from %I', copied, columns, columns, 'before_' || copied
      );
      if identity_column is not null then
        sequence := pg_get_serial_sequence(quote_ident(current_schema()) || '.' || quote_ident(copied), identity_column);
        execute format(
          'select setval(%L, greatest(max(%I), 1), max(%I) is not null) from %I', sequence, identity_column, identity_column,
          copied
        );
      end if;
    end loop;
    -- Who might use a table before may use it now; new tables as `thread`.
    for allowed in
      select t.relname, a.grantee::regrole::text as grantee, a.privilege_type
      from pg_class t
      join pg_class b on b.relnamespace = t.relnamespace
        and b.relname = 'before_' || case when to_regclass('before_' || t.relname) is null then 'thread' else t.relname end
      cross join aclexplode(b.relacl) a
      where t.relnamespace = quote_ident(current_schema())::regnamespace and t.relkind = 'r' and t.relname not like 'before\_%'
        and t.relname not like 'checkpoint%' and a.grantee <> 0 and a.grantee <> b.relowner
    loop
      execute format('grant %s on %I to %s', allowed.privilege_type, allowed.relname, allowed.grantee);
    end loop;
  end
$$;

-- What was under way goes on: its lease runs out, and another worker takes it over.
insert into mnemograph.work (kind, thread_ref, done_until, attempts, lease, lease_until, retry_at, error)
select case k.task when 'extract' then 'facts' when 'compress' then 'episodes' else 'notes' end,
  k.thread_ref, k.done_until, k.attempts, k.attempts, k.lease_until, k.retry_at, k.error
from mnemograph.before_thread_task k;
-- Ticks are not revisions: where anything changed since, all of it counts as changed.
insert into mnemograph.work (kind, owner_ref, done_until, done_at, attempts, lease, lease_until, retry_at, error)
select case k.task when 'compact' then 'compaction' when 'consolidate' then 'consolidation' else k.task end,
  k.owner_ref, case when k.done_until >= o.tick then o.revision else 0 end, k.done_at, k.attempts, k.attempts,
  k.lease_until, k.retry_at, k.error
from mnemograph.before_owner_task k join mnemograph.before_owner o on o.id = k.owner_ref;
insert into mnemograph.work (kind, thread_ref, done_until, attempts, lease, lease_until, retry_at, error)
select 'summaries', l.thread_ref, coalesce(d.end_seq, -1), l.attempts, l.attempts, l.lease_until, l.retry_at, l.error
from (
  select distinct on (thread_ref) thread_ref,
    case when status = 'completed' then 0 else attempts end as attempts,
    case when status = 'processing' then lease_until end as lease_until,
    case when status = 'failed' then retry_at end as retry_at,
    case when status = 'failed' then error end as error
  from mnemograph.before_summary order by thread_ref, id desc
) l
left join (
  select thread_ref, max(end_seq) as end_seq from mnemograph.before_summary where status = 'completed' group by 1
) d on d.thread_ref = l.thread_ref;
insert into mnemograph.work (kind, thread_ref, owner_ref, done_until, progress, error, output, given_up_at)
select case d.task when 'extract' then 'facts' when 'compress' then 'episodes' when 'note' then 'notes'
    when 'compact' then 'compaction' when 'consolidate' then 'consolidation' else d.task end,
  d.thread_ref, d.owner_ref,
  case d.task
    when 'compress' then (
      select count(*) from mnemograph.message m where m.thread_ref = d.thread_ref and m.role = 'user' and m.seq < d.start_seq
    )
    else coalesce(d.start_seq - 1, 0)
  end,
  jsonb_build_object('startSeq', d.start_seq, 'endSeq', d.end_seq, 'doneUntil', case d.task
    when 'compress' then (
      select count(*) from mnemograph.message m where m.thread_ref = d.thread_ref and m.role = 'user' and m.seq <= d.end_seq
    )
    else d.end_seq
  end),
  d.error, d.output, d.created_at
from mnemograph.before_dead_letter d;

insert into mnemograph.meta (version, functions_version, compatible_from, language)
select 0, 0, 0, configuration from mnemograph.before_search_language;

do $$
  declare
    gone record;
  begin
    set local search_path = mnemograph, pg_temp;
    for gone in
      select relname from pg_class
      where relnamespace = quote_ident(current_schema())::regnamespace and relkind = 'r' and relname like 'before\_%'
    loop
      execute format('drop table %I cascade', gone.relname);
    end loop;
  end
$$;
