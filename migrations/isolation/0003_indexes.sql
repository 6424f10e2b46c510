-- A hash index looks through all entries of an id for room for one more: writing an owner, a thread or an event took longer
-- with every row that names no app, or no user. These take ids of any length as well, and as many entries of one id as there
-- are. They hold rows without the id too: a plan for any id could not use an index that leaves those out.
drop index thread_isolated_user, thread_isolated_app, thread_isolated_id, owner_isolated_user, owner_isolated_app,
  event_isolated_user;
create index thread_isolated_user on thread using spgist (user_id);
create index thread_isolated_app on thread using spgist (app_id);
create index thread_isolated_id on thread using spgist (thread_id);
create index owner_isolated_user on owner using spgist (user_id);
create index owner_isolated_app on owner using spgist (app_id);
create index event_isolated_user on event using spgist (user_id);
