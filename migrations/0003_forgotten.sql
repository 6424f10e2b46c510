-- What was removed on request, by owner: searches leave out the messages that it was learned from, with each question.
create index concurrently if not exists history_removed on mnemograph.history (owner_ref)
  where event = 'DELETE' and new ->> 'state' = 'soft_deleted';

-- Pinned memories, which each turn is shown: few of a user's, and found without reading the others.
create index concurrently if not exists memory_pinned on mnemograph.memory (owner_ref) where state = 'active' and pinned;
