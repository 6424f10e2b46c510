-- The store's statement makes the owner itself.
drop trigger store_item_owned on store_item;
drop function own_items();
