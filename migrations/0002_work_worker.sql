-- Which process has a piece of background work, as "host:pid", and since when: for people who look at a job of a worker that was
-- killed. They count only while `lease_until` is set.
alter table mnemograph.work add column worker text, add column taken_at timestamptz;
