-- News older than a thread may still need is deleted. Rows come in the order of their time, which is all that such an
-- index needs to know, and writing costs next to nothing of it.
create index change_log_age on change_log using brin (created_at) with (pages_per_range = 16, autosummarize = on);

-- Up to which revision news was deleted.
alter table owner add column changes_trimmed_to bigint not null default 0;
