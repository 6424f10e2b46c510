-- The rounds that a summary stands for, counted when it is completed, so that recall need not count them again.
-- Summaries made before have none and are counted when they are read.

alter table summary add column start_round integer, add column end_round integer;
