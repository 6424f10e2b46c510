-- Where a memory's words come from and how far they are believed, and a state for what nobody has approved.

alter table memory
  add column origin text not null default 'unknown'
    constraint memory_origin check (
      origin in ('user', 'assistant', 'tool', 'document', 'worker', 'operator', 'import', 'unknown')
    ),
  add column trust text not null default 'untrusted'
    constraint memory_trust check (trust in ('operator', 'user', 'agent', 'untrusted')),
  drop constraint memory_state,
  add constraint memory_state
    check (state in ('active', 'superseded', 'merged', 'soft_deleted', 'quarantined'));

update memory set origin = 'user', trust = 'user' where role = 'user';
update memory set origin = 'worker', trust = 'agent' where kind in ('episode', 'procedure') and origin = 'unknown';

-- The same words are put before the operator once, however often they come.
create unique index memory_quarantine on memory (owner_ref, md5(app_id), kind, content_hash)
  where state = 'quarantined';
