-- From a message to the memories learned from it, which a search asks for each message that fits: arrays of numbers
-- would be read of all memories of a thread.
alter index memory_source rename to memory_thread;
create table memory_source (
  thread_ref bigint not null,
  seq integer not null,
  memory_ref bigint not null references memory (ref) on delete cascade,
  constraint memory_source_pkey primary key (thread_ref, seq, memory_ref)
);
create index memory_source_memory on memory_source (memory_ref);

insert into memory_source (thread_ref, seq, memory_ref)
select distinct m.thread_ref, cited.seq, m.ref
from memory m cross join lateral unnest(m.source_seqs) as cited (seq)
where m.thread_ref is not null;

-- Kept by the table of memories itself: whoever writes where a memory was learned, or takes that away, need not know.
do $do$
begin
  execute format(
    $body$
      create function %1$I.keep_memory_source() returns trigger
      language plpgsql set search_path = %1$I, pg_temp as $$
      begin
        if tg_op = 'UPDATE' then
          delete from memory_source where memory_ref = new.ref;
        end if;
        insert into memory_source (thread_ref, seq, memory_ref)
        select distinct new.thread_ref, cited.seq, new.ref from unnest(new.source_seqs) as cited (seq)
        where new.thread_ref is not null;
        return null;
      end
      $$
    $body$,
    current_schema()
  );
end
$do$;
create trigger memory_source_added after insert on memory
  for each row when (new.thread_ref is not null and new.source_seqs <> '{}')
  execute function keep_memory_source();
create trigger memory_source_changed after update of thread_ref, source_seqs on memory
  for each row when (old.thread_ref is distinct from new.thread_ref or old.source_seqs is distinct from new.source_seqs)
  execute function keep_memory_source();
