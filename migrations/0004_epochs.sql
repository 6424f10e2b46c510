-- A thread's prompt only grows within an epoch: what its first turn fixed stays above, what each turn added stays where it was said.
alter table mnemograph.shown
  -- Of the turn that opens an epoch: the first message that is shown word for word. Null where the epoch goes on.
  add column first_seq integer,
  -- Which categories were readable: agents with other allowlists have epochs of their own.
  add column reader integer,
  -- A checksum of each memory's words, of 15 bits: it shows that they changed, and tells nobody what they were.
  add column checks smallint[];
