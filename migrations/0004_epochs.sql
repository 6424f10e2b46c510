-- A thread's prompt only grows within an epoch: what its first turn fixed stays above, what each turn added stays where it was said.
alter table mnemograph.shown
  -- Of the turn that opens an epoch: the first message that is shown word for word. Null where the epoch goes on.
  add column first_seq integer,
  -- Which categories were readable: agents with other allowlists have epochs of their own.
  add column reader integer,
  -- A checksum of each memory's words, of 15 bits: it shows that they changed, and tells nobody what they were.
  add column checks smallint[];
create index concurrently if not exists shown_epoch on mnemograph.shown (thread_ref, seq) where first_seq is not null;
drop function if exists mnemograph.conversation_messages(bigint, integer, integer, integer, bigint);
drop function if exists mnemograph.conversation(text, text, text, text, text[], bigint, bigint, bigint, bigint, bigint, timestamptz);
drop function if exists mnemograph.thread_changes(bigint[], bigint, bigint, text[], text, text, text, bigint, bigint, timestamptz);
