-- Which memories hold since a time that a question names, and an app's latest notes. An index by kind is gone: to a
-- planner without statistics it was as good as that of contents, and then each write read all of a user's memories.
-- For the same reason the one by time has rows of every state.
drop index memory_category;
create index memory_time on memory (owner_ref, valid_from);
create index memory_note on memory (owner_ref, updated_at desc) where state = 'active' and kind = 'note';
