-- What is known of a thread at the start of a round: no row for one that is not there, and of another scope's only that.
-- A function reads what is there and nothing else, and keeps its plans where a pooler keeps no prepared statement; as a
-- part of a statement it would be prepared whole with each of them.
--
-- Making a plan ready costs more than what it reads here, that of an aggregate most: so lists are made by `array(…)`, and
-- what is seldom there is looked for first.
do $do$
begin
  -- Messages of a thread as JSON, in order: those from `first` to `last`, and one that stands `alone` before them. With
  -- `tool_bytes`, without system messages and longer results of tools.
  execute format(
    $body$
      create function %1$I.conversation_messages(
        of_thread bigint, alone integer, first integer, last integer, tool_bytes bigint
      ) returns json
      language plpgsql stable parallel safe as $$
      begin
        if alone is null then
          return array_to_json(array(
            select row_to_json(j) from (
              select m.seq, m.message_id as "messageId", m.role, m.actor, m.content as text, m.serialised
              from %1$I.message m
              where m.thread_ref = of_thread and m.seq >= first and m.seq <= last and (
                tool_bytes is null or m.role <> 'system' and (m.role <> 'tool' or octet_length(m.content) <= tool_bytes)
              )
              order by m.seq
            ) j
          ));
        end if;
        return array_to_json(array(
          select row_to_json(j) from (
            select m.seq, m.message_id as "messageId", m.role, m.actor, m.content as text, m.serialised
            from (
              select * from %1$I.message m where m.thread_ref = of_thread and m.seq = alone
              union all
              select * from %1$I.message m where m.thread_ref = of_thread and m.seq >= first and m.seq <= last
            ) m
            where tool_bytes is null or m.role <> 'system' and (m.role <> 'tool' or octet_length(m.content) <= tool_bytes)
            order by m.seq
          ) j
        ));
      end
      $$
    $body$,
    current_schema()
  );
  execute format(
    $body$
      create function %1$I.conversation(
        asked_tenant text, asked_user text, asked_app text, asked_thread text,
        -- Ids of the messages of one branch; null for the whole thread.
        branch text[],
        -- Messages that the summary covers, the bytes of a tool's result among them, and messages of a long round.
        recent_messages bigint, recent_bytes bigint, round_messages bigint,
        -- Messages that it does not cover, and their bytes.
        gap_messages bigint, gap_bytes bigint,
        asked_at timestamptz
      ) returns table (
        owned boolean, rev_seen float8, summary json, processing json, gap json, recent json, left_out json
      )
      language plpgsql stable parallel safe rows 1 as $$
      declare
        thread_id bigint;
        done record;
        -- Where the summary ends: -1 without one.
        covered integer := -1;
        -- Where the branch's messages are, from where to where: what was said after it left is of another one.
        branch_seqs integer[];
        first_seq integer;
        last_seq integer := 2147483647;
        gap_size record;
        from_seq integer;
        question_seq integer;
        near_seq bigint;
      begin
        select t.id, t.user_id = asked_user and t.app_id = asked_app, t.rev_seen into thread_id, owned, rev_seen
        from %1$I.thread t
        where sha256(replace(t.tenant_id, E'\\', E'\\\\')::bytea) = sha256(replace(asked_tenant, E'\\', E'\\\\')::bytea)
          and t.tenant_id = asked_tenant
          and sha256(replace(t.thread_id, E'\\', E'\\\\')::bytea) = sha256(replace(asked_thread, E'\\', E'\\\\')::bytea)
          and t.thread_id = asked_thread;
        if thread_id is null then
          return;
        elsif not owned then
          return next;
          return;
        end if;

        if branch is not null then
          select array_agg(held.seq), min(held.seq), coalesce(max(held.seq), last_seq) into branch_seqs, first_seq, last_seq
          from %1$I.message held where held.thread_ref = thread_id and held.message_id = any (branch);
        end if;
        -- The latest completed summary that ends in the branch, or before all of it.
        select s.id, s.start_seq, s.end_seq, s.content, s.start_round, s.end_round, (
          select m.message_id from %1$I.message m where m.thread_ref = thread_id and m.seq = s.end_seq
        ) as message_id into done
        from %1$I.summary s
        where s.thread_ref = thread_id and s.status = 'completed' and s.rolled_back_at is null
          and (first_seq is null or s.end_seq < first_seq or s.end_seq = any (branch_seqs))
        order by s.end_seq desc, s.id desc limit 1;
        -- The one in the making.
        select json_build_object('id', s.id, 'startSeq', s.start_seq, 'endSeq', s.end_seq) into processing
        from %1$I.summary s where s.thread_ref = thread_id and s.status = 'processing' and s.lease_until > asked_at;
        if done.id is not null then
          covered := done.end_seq;
          -- Counted when it was made; imported and older ones were not.
          if done.start_round is null or done.end_round is null then
            select coalesce(done.start_round, count(*) filter (where m.seq <= done.start_seq)),
              coalesce(done.end_round, count(*)) into done.start_round, done.end_round
            from %1$I.message m where m.thread_ref = thread_id and m.role = 'user' and m.seq <= covered;
          end if;
          summary := json_build_object(
            'id', done.id, 'startSeq', done.start_seq, 'endSeq', done.end_seq, 'text', done.content,
            'endMessageId', done.message_id, 'startRound', done.start_round, 'endRound', done.end_round
          );
        end if;

        -- The messages after it: how many there are, and how long they are. Of more than may be shown none is read.
        select count(*) as messages, sum(m.bytes) as bytes, min(m.seq) as first_seq into gap_size
        from (
          select m.seq, octet_length(m.content) as bytes from %1$I.message m
          where m.thread_ref = thread_id and m.seq > covered and m.seq <= last_seq
          order by m.seq desc limit gap_messages + 1
        ) m;
        from_seq := gap_size.first_seq;
        if gap_size.messages > 1 and (gap_size.messages > gap_messages or gap_size.bytes > gap_bytes) then
          -- What fits, from the end; where the first round begins in it, or else what is no result of a call before.
          select min(m.seq) as first_seq, min(m.seq) filter (where m.role = 'user') as round_seq,
            coalesce(min(m.seq) filter (where m.role = 'user'), min(m.seq) filter (where m.role <> 'tool'), min(m.seq)) as from_seq
          into gap_size
          from (
            select m.seq, m.role, row_number() over back as place, sum(m.bytes) over back as bytes
            from (
              select m.seq, m.role, octet_length(m.content) as bytes from %1$I.message m
              where m.thread_ref = thread_id and m.seq > covered and m.seq <= last_seq
              order by m.seq desc limit gap_messages + 1
            ) m
            window back as (order by m.seq desc)
          ) m
          where m.place = 1 or (m.place <= gap_messages and m.bytes <= gap_bytes);
          from_seq := gap_size.from_seq;
          if gap_size.round_seq is null then
            -- Of a round that alone is too long, its question is shown as well.
            select m.seq into question_seq from %1$I.message m
            where m.thread_ref = thread_id and m.role = 'user' and m.seq > covered and m.seq < gap_size.first_seq
            order by m.seq desc limit 1;
          end if;
          select json_build_object(
            'messages', from_seq - covered - 1 - case when question_seq is null then 0 else 1 end,
            'endMessageId', (
              select m.message_id from %1$I.message m where m.thread_ref = thread_id and m.seq = from_seq - 1
            )
          ) into left_out;
        end if;
        gap := '[]';
        if from_seq is not null then
          gap := %1$I.conversation_messages(thread_id, question_seq, from_seq, last_seq, null);
        end if;

        -- The last messages that the summary covers, from the start of a round; of a long one its end.
        recent := '[]';
        if done.id is not null then
          from_seq := null;
          if recent_messages > 0 then
            select coalesce((
              select m.seq from %1$I.message m
              where m.thread_ref = thread_id and m.role = 'user' and m.seq <= kept.seq
              order by m.seq desc limit 1
            ), kept.seq) into from_seq
            from coalesce((
              select m.seq from %1$I.message m
              where m.thread_ref = thread_id and m.role <> 'system' and m.seq <= covered
              order by m.seq desc offset recent_messages - 1 limit 1
            ), 0) kept (seq);
          else
            -- Where none are kept: the round that the summary ends with, if no later one has begun.
            select m.seq into from_seq from %1$I.message m
            where m.thread_ref = thread_id and m.role = 'user' and (branch is null or m.seq <= covered)
            order by m.seq desc limit 1;
          end if;
          if from_seq <= covered then
            near_seq := covered - recent_messages - round_messages + 1;
            recent := %1$I.conversation_messages(
              thread_id, case when from_seq < near_seq then from_seq end, greatest(from_seq, near_seq)::integer, covered, recent_bytes
            );
          end if;
        end if;
        return next;
      end
      $$
    $body$,
    current_schema()
  );

  -- What a thread that saw the revision `since` was not told of the owner `told`, and what waits for the consent of `owners`.
  execute format(
    $body$
      create function %1$I.round_news(
        owners bigint[], told bigint, since bigint, categories text[], asked_app text,
        most_changes bigint, most_consents bigint, asked_at timestamptz
      ) returns table (change_count integer, changes json, consents json)
      language plpgsql stable parallel safe rows 1 as $$
      begin
        change_count := 0;
        changes := '[]';
        if exists (select from %1$I.change_log l where l.owner_ref = told and l.rev > since) then
          -- The most important changes, and how many there are.
          select count(*), coalesce(
            json_agg(json_build_object('rev', c.rev, 'event', c.event, 'line', c.line) order by c.place)
              filter (where c.place <= most_changes),
            '[]'
          ) into change_count, changes
          from (
            select l.rev, l.event, l.line, row_number() over (order by l.importance desc, l.rev desc) as place
            from %1$I.change_log l
            where l.owner_ref = told and l.rev > since and l.category = any (categories) and l.app_id in ('', asked_app)
          ) c;
        end if;
        consents := '[]';
        if most_consents > 0 and exists (
          select from %1$I.consent_request c where c.owner_ref = any (owners) and c.status = 'pending'
        ) then
          -- The newest requests that may be asked about now, each with what holds its slot.
          select coalesce(json_agg(json_build_object(
            'id', d.id, 'category', d.category, 'key', d.key, 'value', d.draft ->> 'value', 'text', d.draft ->> 'text',
            'current', (
              select coalesce(h.value, h.content) from %1$I.memory h
              where h.owner_ref = d.owner_ref and h.category = d.category and h.key = d.key and h.state = 'active'
                and sha256(replace(h.app_id, E'\\', E'\\\\')::bytea) = sha256(replace(d.app_id, E'\\', E'\\\\')::bytea)
                and h.app_id = d.app_id and (h.expires_at is null or h.expires_at > asked_at)
            )
          ) order by d.ref desc), '[]') into consents
          from (
            select * from %1$I.consent_request c
            where c.owner_ref = any (owners) and c.status = 'pending' and c.rule = 'consent'
              and c.expires_at > asked_at and c.ask_at <= asked_at and c.app_id in ('', asked_app)
              and c.category = any (categories)
            order by c.ref desc limit most_consents
          ) d;
        end if;
        return next;
      end
      $$
    $body$,
    current_schema()
  );

  -- What a recall asks where a process holds the owners that it sees: what a round is told, the question's words, how the
  -- owners stand, and which rows are newer than the copies that are held at `held_ticks`.
  execute format(
    $body$
      create function %1$I.pulse(
        asked_tenant text, asked_user text, asked_app text, asked_thread text, branch text[],
        recent_messages bigint, recent_bytes bigint, round_messages bigint, gap_messages bigint, gap_bytes bigint,
        categories text[], most_changes bigint, most_consents bigint,
        -- The question, null for none; its words without those that one asks for everything with; those that name a speaker.
        language regconfig, terms text, telling text, speakers text[],
        held_owners bigint[], held_ticks bigint[],
        -- Rows of an owner that are told: of one with more changes none is.
        most_changed bigint,
        asked_at timestamptz
      ) returns table (
        conversation json, revision float8, trimmed_to float8, change_count integer, changes json, consents json,
        broad boolean, lexemes json, named json, owners json,
        -- Memories, and threads with their first new message, by owner.
        changed_owners bigint[], changed_memories bigint[], heard_owners bigint[], heard_threads bigint[], heard_from integer[]
      )
      language plpgsql stable parallel safe rows 1 as $$
      declare
        known record;
        of_user boolean;
        seen record;
        told bigint;
        refs bigint[] := '{}';
        stand json[] := '{}';
        threads bigint;
        held bigint;
        changed bigint[];
        heard bigint;
        new_threads bigint[];
        new_from integer[];
        first_new integer;
        added bigint;
        total bigint;
      begin
        select * into known from %1$I.conversation(
          asked_tenant, asked_user, asked_app, asked_thread, branch, recent_messages, recent_bytes, round_messages,
          gap_messages, gap_bytes, asked_at
        );
        if known.owned is not null then
          conversation := row_to_json(known);
        end if;
        foreach of_user in array array[true, false] loop
          -- Of another scope's thread, nothing else is told.
          exit when not known.owned;
          continue when case when of_user then asked_user else asked_app end = '';
          select o.* into seen from %1$I.owner o
          where o.tenant_id = asked_tenant
            and o.user_id = case when of_user then asked_user else '' end
            and o.app_id = case when of_user then '' else asked_app end
            and sha256(replace(o.tenant_id, E'\\', E'\\\\')::bytea) = sha256(replace(asked_tenant, E'\\', E'\\\\')::bytea)
            and sha256(replace(o.user_id, E'\\', E'\\\\')::bytea)
              = sha256(replace(case when of_user then asked_user else '' end, E'\\', E'\\\\')::bytea)
            and sha256(replace(o.app_id, E'\\', E'\\\\')::bytea)
              = sha256(replace(case when of_user then '' else asked_app end, E'\\', E'\\\\')::bytea);
          continue when not found;
          refs := refs || seen.id;
          -- News and revisions are the user's, or without one the app's.
          if told is null then
            told := seen.id;
            revision := seen.revision;
            trimmed_to := seen.changes_trimmed_to;
          end if;
          threads := 0;
          -- Only a question is ranked by them.
          if terms is not null then
            threads := cardinality(array(
              select h.id from %1$I.thread h where h.owner_ref = seen.id and (asked_app = '' or h.app_id = asked_app)
            ));
          end if;
          total := 0;
          held := held_ticks[array_position(held_owners, seen.id)];
          if held < seen.tick and held >= seen.reload_tick then
            changed := array(
              select m.ref from %1$I.memory m where m.owner_ref = seen.id and m.tick > held
              order by m.tick limit most_changed + 1
            );
            total := cardinality(changed);
            new_threads := '{}';
            new_from := '{}';
            if seen.said_tick > held then
              -- One thread, or any of the owner's.
              foreach heard in array case
                when seen.said_elsewhere_tick <= held then array[seen.said_in]
                else array(select h.id from %1$I.thread h where h.owner_ref = seen.id)
              end loop
                exit when total > most_changed;
                first_new := coalesce((
                  select m.seq + 1 from %1$I.message m where m.thread_ref = heard and m.tick <= held
                  order by m.seq desc limit 1
                ), 0);
                added := cardinality(array(
                  select m.seq from %1$I.message m where m.thread_ref = heard and m.seq >= first_new
                  order by m.seq limit most_changed + 1
                ));
                if added > 0 then
                  new_threads := new_threads || heard;
                  new_from := new_from || first_new;
                  total := total + added;
                end if;
              end loop;
            end if;
            if total <= most_changed then
              changed_memories := changed_memories || changed;
              changed_owners := changed_owners || array_fill(seen.id, array[cardinality(changed)]);
              heard_threads := heard_threads || new_threads;
              heard_from := heard_from || new_from;
              heard_owners := heard_owners || array_fill(seen.id, array[cardinality(new_threads)]);
            end if;
          end if;
          stand := stand || json_build_object(
            'ref', seen.id, 'isUser', of_user, 'tick', seen.tick, 'reloadTick', seen.reload_tick,
            'memoryCount', seen.memory_count, 'memoryLength', seen.memory_length,
            'messageCount', seen.message_count, 'messageLength', seen.message_length,
            'threads', threads, 'tooMuch', total > most_changed
          );
        end loop;
        owners := array_to_json(stand);
        select n.change_count, n.changes, n.consents into change_count, changes, consents
        from %1$I.round_news(
          refs, told, known.rev_seen::bigint, categories, asked_app, most_changes, most_consents, asked_at
        ) n;
        broad := terms is null or to_tsvector(language, telling) = ''::tsvector;
        lexemes := array_to_json(tsvector_to_array(to_tsvector(language, coalesce(terms, ''))));
        named := '[]';
        if cardinality(speakers) > 0 then
          named := array_to_json(array(
            select v.lexeme from unnest(speakers) word cross join lateral unnest(to_tsvector(language, word)) v
          ));
        end if;
        return next;
      end
      $$
    $body$,
    current_schema()
  );
end
$do$;
