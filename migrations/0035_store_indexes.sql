-- A hash index looks through all entries of an id for room for one more: writing an item took longer with every item that its
-- app or user had. These take ids of any length as well, and as many entries of one id as there are.
drop index store_item_user, store_item_app;
create index store_item_user on store_item using spgist (user_id) where user_id <> '';
create index store_item_app on store_item using spgist (app_id) where app_id <> '';
