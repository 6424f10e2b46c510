-- Each memory and each request for consent counts its own changes, so that who decides about one can say which version
-- was looked at. Counted here and not by the statements, so that none can forget it; marks of mere use do not count.
alter table memory add column revision bigint not null default 1;
alter table consent_request add column revision bigint not null default 1;
alter table history add column memory_revision bigint;

create function count_revision() returns trigger language plpgsql as $$
begin
  new.revision := old.revision + 1;
  return new;
end
$$;
create trigger memory_revision before update of
  category, key, value, content, importance, confidence, pinned, state, tags, trust, seen_count, valid_from, valid_to,
  superseded_by, purge_at
on memory for each row execute function count_revision();
create trigger consent_request_revision before update of status, draft, seen_count, signals
on consent_request for each row execute function count_revision();

-- The agent and the run that a message was said in: what is learned from it carries them, and what was done in a run
-- can be asked for. Earlier rows do not know.
alter table message add column agent_id text, add column run_id text;
alter table event add column agent_id text, add column run_id text;
