-- What is always shown of a user: a category's facts, most important first.
create index memory_profile on memory (owner_ref, category, importance desc, updated_at desc)
  where state = 'active' and kind = 'fact' and key is null;
