-- How many rounds a thread has. The statements that add or remove messages keep it: counting with each round took longer
-- the longer the thread was.
alter table thread add column turns integer not null default 0;
update thread t set turns = r.rounds
from (select thread_ref, count(*) as rounds from message where role = 'user' group by 1) r
where t.id = r.thread_ref;
