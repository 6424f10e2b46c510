-- How much each running process holds in its memory of users and apps, for operators: numbers, and nobody's names. A
-- process that holds something says so once a minute; one that was killed leaves a row that upkeep removes.
create table held_process (
  id uuid constraint held_process_pkey primary key,
  -- The machine's name and the process's id there.
  host_pid text,
  owners integer not null,
  memories bigint not null,
  bytes bigint not null,
  reported_at timestamptz not null
);
