-- By which score each memory was found that a turn was shown; null of what is shown unasked.
alter table shown add column scores real[];
-- How long its recall took; null of what was recalled elsewhere.
alter table shown add column recall_ms real;
-- Blocks are kept for some days.
create index shown_block on shown (created_at) where content is not null;
