-- How alike questions and memories are that have nothing to do with each other: 0.1 with one model, 0.7 with another.
-- Measured once for a space, when it is first searched; null until then.
alter table embedding_space
  add column unrelated_mean real,
  add column unrelated_spread real;
