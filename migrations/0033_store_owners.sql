-- Who has items in LangGraph's store and nothing else is listed among users and apps as well.
do $do$
begin
  execute format(
    $body$
      create function %1$I.own_items() returns trigger language plpgsql as $$
      begin
        insert into %1$I.owner (tenant_id, user_id, app_id)
        select distinct i.tenant_id, i.user_id, case when i.user_id = '' then i.app_id else '' end
        from written i where i.user_id <> '' or i.app_id <> ''
        on conflict do nothing;
        return null;
      end
      $$
    $body$,
    current_schema()
  );
end
$do$;
create trigger store_item_owned after insert on store_item referencing new table as written
  for each statement execute function own_items();
insert into owner (tenant_id, user_id, app_id)
select distinct i.tenant_id, i.user_id, case when i.user_id = '' then i.app_id else '' end
from store_item i where i.user_id <> '' or i.app_id <> ''
on conflict do nothing;
