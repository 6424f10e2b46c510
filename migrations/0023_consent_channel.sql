-- Whether a thread's users can be asked about what needs their consent: its last round says so. What is extracted later,
-- perhaps by another process, goes by it.
alter table thread add column asks_consent boolean not null default false;
