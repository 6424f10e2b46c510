-- Messages are kept in LangChain's stored form.
update message m
set serialised = '{"type":"' || replace(lower(said.class), 'chat', 'generic') || '","data":' || substr(m.serialised, said.length + 1)
from (
  select x.thread_ref, x.seq, found[2] as class, length(found[1]) as length
  from message x
  cross join lateral regexp_match(
    x.serialised,
    '^(\{"lc":1,"type":"constructor","id":\["langchain_core","messages","(Human|AI|System|Tool|Function|Chat)Message(?:Chunk)?"\],"kwargs":)'
  ) found
  where found is not null
) said
where m.thread_ref = said.thread_ref and m.seq = said.seq;

-- A tenant's energy is its capacity less what its calls of the last two hours took.
drop table energy;
create index usage_tenant on usage (sha256(replace(tenant_id, E'\\', E'\\\\')::bytea), created_at);
