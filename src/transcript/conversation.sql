-- A conversation at the start of a turn: what of it a prompt shows.

-- Messages of a thread as JSON, in order: those from `first` to `last`, and the one at `alone` before them. With `tool_bytes`,
-- without system messages and longer results of tools. Of those that the caller holds, the ids alone.
create or replace function mnemograph.conversation_messages_1(
  of_thread bigint, alone integer, first integer, last integer, tool_bytes bigint, held text[]
) returns json language plpgsql stable parallel safe as $$
  begin
    return array_to_json(array(
      select row_to_json(j) from (
        select m.seq, m.message_id as "messageId", m.role, m.actor, case when not h.is_held then m.content end as text,
          case when not h.is_held then m.serialised end as serialised
        from (
          select * from mnemograph.message m where m.thread_ref = of_thread and m.seq = alone
          union all
          select * from mnemograph.message m where m.thread_ref = of_thread and m.seq >= first and m.seq <= last
        ) m
        cross join lateral (select coalesce(m.message_id = any (held), false) as is_held) h
        -- A message that was removed left an empty system message.
        where (m.role <> 'system' or m.content <> '') and (tool_bytes is null or m.role <> 'system' and (m.role <> 'tool' or octet_length(m.content) <= tool_bytes))
        order by m.seq
      ) j
    ));
  end
$$;

-- Whether a state whose message has the checksum `words` contains an edit of it. It does not where a run rewrote the message in the
-- state, and in a branch that the last edit does not belong to: `held` are the ids of the state's messages.
create or replace function mnemograph.is_edit(of_thread bigint, at_seq integer, words integer, held text[]) returns boolean
  language sql stable parallel safe as $$
    select m.words_check <> words and m.state_check is distinct from words and (
      words <> all (m.earlier_checks) or exists (
        select from mnemograph.message l
        where l.thread_ref = of_thread and l.seq = m.edited_at_seq and l.message_id = any (held)
      )
    )
    from mnemograph.message m where m.thread_ref = of_thread and m.seq = at_seq
  $$;

-- A checksum of what a memory's line says.
create or replace function mnemograph.line_check(category text, key text, value text, content text, trust text) returns smallint
language sql stable parallel safe as $$
  select (hashtext(concat_ws(E'\n', category, key, value, content, trust)) & 32767)::smallint
$$;

-- A thread at the start of a turn: no row when it does not exist; of another scope's thread, only that. While its epoch goes on, the
-- summary is the epoch's, and all messages from the epoch's first one are shown. It ends when its messages have more than `tail_bytes` or the
-- provider's cache is cold (`cache_ms`), and a newer summary is there; when more than three memories that it shows were replaced; and
-- at once when one of them is gone, may not be read any more, or was rewritten.
create or replace function mnemograph.conversation_1(
  asked_tenant text, asked_user text, asked_app text, asked_thread text,
  -- Ids of the messages of one branch; null for the whole thread. And of those that the caller holds.
  branch text[], held text[],
  -- Of those, checksums of the words of users and assistants.
  held_checks integer[],
  -- What the reader may see, and how long epochs last; without `tail_bytes`, for one turn.
  readable text[], tail_bytes bigint, cache_ms bigint,
  -- Messages that the summary covers, the bytes of a tool's result among them, and messages of a long turn.
  recent_messages bigint, recent_bytes bigint, turn_messages bigint,
  -- Messages that it does not cover, and their bytes.
  gap_messages bigint, gap_bytes bigint,
  asked_at timestamptz
) returns table (
  owned boolean, rev_seen float8, summary json, processing json, gap json, recent json, omitted json,
  -- Null where this turn opens one.
  epoch json, shown_ids uuid[],
  -- Where this turn opens one, or is the first that names a day: when the user said each message that it shows.
  said json,
  -- Ids of held messages that say something else than the transcript.
  edited text[]
) language plpgsql stable parallel safe rows 1 as $$
  declare
    thread_id bigint;
    newest bigint;
    -- The summary that is shown.
    done record;
    opened record;
    told record;
    -- Where the summary ends: -1 without one.
    covered integer := -1;
    -- The branch's messages: all, the first, the last. Later messages of the thread belong to another branch.
    branch_seqs integer[];
    branch_first integer;
    held_first integer;
    last_seq integer := 2147483647;
    gap_size record;
    from_seq integer;
    question_seq integer;
    near_seq bigint;
  begin
    select t.id, t.user_id = asked_user and t.app_id = asked_app, t.rev_seen into thread_id, owned, rev_seen
    from mnemograph.thread t
    where mnemograph.id_digest(t.tenant_id) = mnemograph.id_digest(asked_tenant)
      and t.tenant_id = asked_tenant
      and mnemograph.id_digest(t.thread_id) = mnemograph.id_digest(asked_thread)
      and t.thread_id = asked_thread;
    if thread_id is null then
      return;
    elsif not owned then
      return next;
      return;
    end if;
    -- Seldom more than none, so that the rest of the message is read for few.
    select array(
      select m.message_id
      from unnest(held, held_checks) h (id, words) join mnemograph.message m on m.thread_ref = thread_id and m.message_id = h.id
      where m.words_check <> h.words and m.role in ('user', 'assistant') and mnemograph.is_edit(thread_id, m.seq, h.words, held)
    ) into edited;
    if branch is not null then
      select array_agg(b.seq), min(b.seq), coalesce(max(b.seq), last_seq) into branch_seqs, branch_first, last_seq
      from mnemograph.message b where b.thread_ref = thread_id and b.message_id = any (branch);
    end if;
    -- The latest completed summary that ends in the branch, or before all of it.
    select s.id into newest from mnemograph.summary s
    where s.thread_ref = thread_id and s.status = 'completed'
      and (branch_first is null or s.end_seq < branch_first or s.end_seq = any (branch_seqs))
    order by s.end_seq desc, s.id desc limit 1;
    -- The turn that opened this reader's epoch. The ids of the caller's messages select the branch.
    select m.seq into held_first from mnemograph.message m
    where tail_bytes is not null and m.thread_ref = thread_id and m.message_id = held[1];
    select s.seq, s.first_seq, s.omitted, s.summary_id, s.created_at, b.id as base_id into opened
    from mnemograph.shown s join mnemograph.message g on g.thread_ref = s.thread_ref and g.seq = s.seq
    -- The caller says what a turn was shown: another thread's summary, or another's memory, is as one that is gone.
    left join mnemograph.summary b on b.id = s.summary_id and b.thread_ref = thread_id and b.status = 'completed'
    where tail_bytes is not null and s.thread_ref = thread_id and s.first_seq is not null and s.reader = hashtext(readable::text)
      and (branch is null or s.seq < branch_first or s.seq = any (branch_seqs))
      and (held_first is null or s.seq < held_first or g.message_id = any (held))
    order by s.seq desc limit 1;
    if opened.seq is not null and opened.summary_id is not distinct from opened.base_id then
      select array_agg(e.id order by s.seq, e.place) as ids, max(s.created_at) as last_at,
        json_agg(json_build_array(g.message_id, e.id, e.part) order by s.seq, e.place) as lines,
        count(*) filter (where m.state in ('superseded', 'merged')) as replaced,
        coalesce(bool_or(not (
          m.app_id in ('', asked_app) and m.category = any (readable) and (m.expires_at is null or m.expires_at > asked_at)
          and e.line_check = mnemograph.line_check(m.category, m.key, m.value, m.content, m.trust) and (m.state = 'active' or m.state in ('superseded', 'merged') and exists (
            select from mnemograph.memory n where n.id = m.superseded_by and n.state = 'active'
          ))
        ) or e.id is not null and m.id is null), false) as any_gone
      into told
      from mnemograph.shown s
      join mnemograph.message g on g.thread_ref = s.thread_ref and g.seq = s.seq
      left join unnest(s.memory_ids, s.parts, s.checks) with ordinality e (id, part, line_check, place) on true
      left join mnemograph.memory m on m.id = e.id and m.tenant_id = asked_tenant and m.user_id in ('', asked_user)
      where s.thread_ref = thread_id and s.seq >= opened.seq and s.reader = hashtext(readable::text)
        and (branch is null or s.seq < branch_first or s.seq = any (branch_seqs))
        and (held_first is null or s.seq < held_first or g.message_id = any (held));
      if not told.any_gone and told.replaced <= 3 and (
        newest is not distinct from opened.base_id
        or told.last_at > asked_at - cache_ms * interval '1 millisecond' and tail_bytes >= (
          select coalesce(sum(octet_length(m.content)), 0) from mnemograph.message m
          where m.thread_ref = thread_id and m.seq >= opened.first_seq and m.seq <= last_seq
        )
      ) then
        epoch := json_build_object('openedAt', date_part('epoch', opened.created_at) * 1000, 'omitted', opened.omitted, 'lines', told.lines, 'news', (
          select coalesce(json_agg(json_build_array(g.message_id, s.news) order by s.seq), '[]')
          from mnemograph.shown s join mnemograph.message g on g.thread_ref = s.thread_ref and g.seq = s.seq
          where s.thread_ref = thread_id and s.seq >= opened.seq and s.reader = hashtext(readable::text) and s.news is not null
            and (branch is null or s.seq < branch_first or s.seq = any (branch_seqs))
            and (held_first is null or s.seq < held_first or g.message_id = any (held))
        ));
        shown_ids := told.ids;
      end if;
    end if;
    select s.id, s.start_seq, s.end_seq, s.content, s.start_turn, s.end_turn, (
      select m.message_id from mnemograph.message m where m.thread_ref = thread_id and m.seq = s.end_seq
    ) as message_id into done
    from mnemograph.summary s where s.id = case when epoch is null then newest else opened.base_id end;
    -- The one that a worker is making, or that waits for a worker.
    select json_build_object('id', s.id, 'startSeq', s.start_seq, 'endSeq', s.end_seq) into processing
    from mnemograph.summary s where s.thread_ref = thread_id and s.status = 'processing' and exists (
      select from mnemograph.work w
      where w.thread_ref = thread_id and w.kind = 'summaries' and w.given_up_at is null and (
        w.lease_until > asked_at or (w.lease_until is null and w.retry_at is not null and w.due_since is null)
      )
    );
    if done.id is not null then
      covered := done.end_seq;
      -- Counted when it was made; imported and older ones were not.
      if done.start_turn is null or done.end_turn is null then
        select coalesce(done.start_turn, count(*) filter (where m.seq <= done.start_seq)),
          coalesce(done.end_turn, count(*)) into done.start_turn, done.end_turn
        from mnemograph.message m where m.thread_ref = thread_id and m.role = 'user' and m.seq <= covered;
      end if;
      summary := json_build_object(
        'id', done.id, 'startSeq', done.start_seq, 'endSeq', done.end_seq, 'text', done.content,
        'endMessageId', done.message_id, 'startTurn', done.start_turn, 'endTurn', done.end_turn
      );
    end if;
    -- The messages after it: how many there are, and how long they are. Of more than may be shown none is read.
    select count(*) as messages, sum(m.bytes) as bytes, min(m.seq) as first_seq into gap_size
    from (
      select m.seq, octet_length(m.content) as bytes from mnemograph.message m
      where m.thread_ref = thread_id and m.seq > covered and m.seq <= last_seq
      order by m.seq desc limit gap_messages + 1
    ) m;
    from_seq := gap_size.first_seq;
    if gap_size.messages > 1 and (gap_size.messages > gap_messages or gap_size.bytes > gap_bytes) then
      -- What fits, from the end; where the first turn begins in it, or else at a message that is no result of a tool call.
      select min(m.seq) as first_seq, min(m.seq) filter (where m.role = 'user') as turn_seq,
        coalesce(min(m.seq) filter (where m.role = 'user'), min(m.seq) filter (where m.role <> 'tool'), min(m.seq)) as from_seq
      into gap_size
      from (
        select m.seq, m.role, row_number() over back as place, sum(m.bytes) over back as bytes
        from (
          select m.seq, m.role, octet_length(m.content) as bytes from mnemograph.message m
          where m.thread_ref = thread_id and m.seq > covered and m.seq <= last_seq
          order by m.seq desc limit gap_messages + 1
        ) m
        window back as (order by m.seq desc)
      ) m
      where m.place = 1 or (m.place <= gap_messages and m.bytes <= gap_bytes);
      from_seq := gap_size.from_seq;
      if gap_size.turn_seq is null then
        -- Of a turn that alone is too long, its question is shown as well.
        select m.seq into question_seq from mnemograph.message m
        where m.thread_ref = thread_id and m.role = 'user' and m.seq > covered and m.seq < gap_size.first_seq
        order by m.seq desc limit 1;
      end if;
      select json_build_object(
        'messages', from_seq - covered - 1 - case when question_seq is null then 0 else 1 end,
        'endMessageId', (
          select m.message_id from mnemograph.message m where m.thread_ref = thread_id and m.seq = from_seq - 1
        )
      ) into omitted;
    end if;
    gap := '[]';
    if from_seq is not null then
      gap := mnemograph.conversation_messages_1(thread_id, question_seq, from_seq, last_seq, null, held);
    end if;
    -- The last messages that the summary covers, from the start of a turn; of a long one its end.
    recent := '[]';
    if done.id is not null then
      from_seq := null;
      if epoch is not null then
        from_seq := opened.first_seq;
      elsif recent_messages > 0 then
        select coalesce((
          select m.seq from mnemograph.message m
          where m.thread_ref = thread_id and m.role = 'user' and m.seq <= kept.seq
          order by m.seq desc limit 1
        ), kept.seq) into from_seq
        from coalesce((
          select m.seq from mnemograph.message m
          where m.thread_ref = thread_id and m.role <> 'system' and m.seq <= covered
          order by m.seq desc offset recent_messages - 1 limit 1
        ), 0) kept (seq);
      else
        -- Where none are kept: the turn that the summary ends with, if no later one has begun.
        select m.seq into from_seq from mnemograph.message m
        where m.thread_ref = thread_id and m.role = 'user' and (branch is null or m.seq <= covered)
        order by m.seq desc limit 1;
      end if;
      if from_seq <= covered then
        near_seq := covered - recent_messages - turn_messages + 1;
        recent := mnemograph.conversation_messages_1(
          thread_id, case when from_seq < near_seq then from_seq end, greatest(from_seq, near_seq)::integer, covered, recent_bytes, held
        );
      end if;
    end if;
    if epoch is null or not jsonb_path_exists((epoch -> 'news')::jsonb, '$[*][1].day') then
      said := array_to_json(array(
        select json_build_array(s.message_id, s.said_at) from (
          select m.seq, m.message_id, m.said_at from mnemograph.message m
          where m.thread_ref = thread_id and m.role = 'user' and m.seq >= from_seq and m.seq <= last_seq
          order by m.seq desc limit gap_messages
        ) s order by s.seq
      ));
    end if;
    return next;
  end
$$;
