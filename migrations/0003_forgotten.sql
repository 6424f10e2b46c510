-- What was removed on request, by owner: searches leave out the messages that it was learned from, with each question.
create index concurrently if not exists history_removed on mnemograph.history (owner_ref)
  where event = 'DELETE' and new ->> 'state' = 'soft_deleted';
