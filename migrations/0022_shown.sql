-- What is known of a user, whatever is asked: of each category the most important statements, and what is pinned. In the
-- same order, all that is active is listed where somebody asks for everything.
drop index memory_profile;
create index memory_profile on memory (owner_ref, category, importance desc, updated_at desc)
  where state = 'active' and kind in ('fact', 'insight') and key is null;
create index memory_rank on memory (owner_ref, pinned desc, importance desc, updated_at desc) where state = 'active';
