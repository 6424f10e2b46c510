import sql, { empty, type Sql } from "sql-template-tag";
import { mostRoundMessages } from "../../src/conversation/conversation-context.rule.js";
import type { ReadLimits } from "../../src/conversation/conversation-options.js";
import type { ConversationAddress } from "../../src/conversation/find-conversation.js";
import type { Connection } from "../../src/postgres/connection.js";
import { scopeColumns, threadIs } from "../../src/scope/scope-predicates.js";

/** What the function `conversation` answers, as one statement that shows how each column comes about. */
export function conversationReference(
  db: Connection,
  { scope, threadId, messageIds = null }: ConversationAddress,
  limits: ReadLimits,
): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const inBranch = sql`(
    ${messageIds}::text[] is null or m.message_id = any(${messageIds}::text[])
    or not exists (
      select from ${db.schema}.message held
      where held.thread_ref = t.id and held.seq <= s.end_seq and held.message_id = any(${messageIds}::text[])
    )
  )`;
  return sql`
    select o.owned, t.rev_seen::float8 as rev_seen,
      case when s.id is not null then json_build_object(
        'id', s.id, 'startSeq', s.start_seq, 'endSeq', s.end_seq, 'text', s.content,
        'endMessageId', s.end_message_id, 'startTurn', rounds.first, 'endTurn', rounds.last
      ) end as summary,
      case when p.id is not null then json_build_object(
        'id', p.id, 'startSeq', p.start_seq, 'endSeq', p.end_seq
      ) end as processing,
      gap.messages as gap, recent.messages as recent,
      case when newest.cut then json_build_object(
        'messages', shown.from_seq - coalesce(s.end_seq, -1) - 1 - case when shown.question_seq is null then 0 else 1 end,
        'endMessageId', (
          select m.message_id from ${db.schema}.message m where m.thread_ref = t.id and m.seq = shown.from_seq - 1
        )
      ) end as omitted
    from ${db.schema}.thread t
    cross join lateral (select t.user_id = ${userId} and t.app_id = ${appId} as owned) o
    left join lateral (
      select s.id, s.start_seq, s.end_seq, s.content, s.start_turn, s.end_turn, m.message_id as end_message_id
      from ${db.schema}.summary s
      join ${db.schema}.message m on m.thread_ref = s.thread_ref and m.seq = s.end_seq
      where s.thread_ref = t.id and s.status = 'completed'
        and ${inBranch}
      order by s.end_seq desc, s.id desc limit 1
    ) s on o.owned
    left join lateral (
      select s.id, s.start_seq, s.end_seq from ${db.schema}.summary s
      join ${db.schema}.work k on k.thread_ref = s.thread_ref and k.kind = 'summaries' and k.lease_until > ${db.now()}
      where s.thread_ref = t.id and s.status = 'processing'
    ) p on o.owned
    ${shownGap(db, messageIds, limits)}
    ${recentlyCovered(db, messageIds, limits)}
    left join lateral (
      -- Kept with summaries that were made here; imported and older ones have none.
      select coalesce(s.start_turn, (
          select count(*)::int from ${db.schema}.message m
          where m.thread_ref = t.id and m.role = 'user' and m.seq <= s.start_seq
        )) as first,
        coalesce(s.end_turn, (
          select count(*)::int from ${db.schema}.message m
          where m.thread_ref = t.id and m.role = 'user' and m.seq <= s.end_seq
        )) as last
    ) rounds on s.id is not null
    where ${threadIs(tenantId, threadId)}`;
}

/** The messages of `m`, in order, as JSON. */
const messagesJson = sql`coalesce(json_agg(json_build_object(
        'seq', m.seq, 'messageId', m.message_id, 'role', m.role, 'actor', m.actor, 'text', m.content,
        'serialised', m.serialised
      ) order by m.seq), '[]') as messages`;

/**
 * The joins `newest`, `shown` and `gap`: of what the summary `s` of the thread `t` does not cover, the newest messages
 * that may be shown. None reads more of a longer gap.
 */
function shownGap(
  db: Connection,
  messageIds: readonly string[] | null,
  { gapMessages, gapBytes }: ReadLimits,
): Sql {
  // What was said after this branch left is of another one.
  const beforeFork =
    messageIds === null
      ? empty
      : sql`and m.seq <= coalesce((
          select max(held.seq) from ${db.schema}.message held
          where held.thread_ref = t.id and held.message_id = any(${messageIds}::text[])
        ), 2147483647)`;
  return sql`left join lateral (
      -- What fits of the gap, from its end; where the first round begins in it, or else what is no result of a call before.
      select coalesce(bool_or(not f.fits), false) as cut, min(m.seq) filter (where f.fits) as first_seq,
        min(m.seq) filter (where f.fits and m.role = 'user') as round_seq,
        min(m.seq) filter (where f.fits and m.role <> 'tool') as call_seq
      from (
        select m.seq, m.role, row_number() over back as place, sum(m.bytes) over back as bytes
        from (
          select m.seq, m.role, octet_length(m.content) as bytes from ${db.schema}.message m
          where m.thread_ref = t.id and m.seq > coalesce(s.end_seq, -1) ${beforeFork}
          order by m.seq desc limit ${gapMessages}::bigint + 1
        ) m
        window back as (order by m.seq desc)
      ) m
      cross join lateral (
        select m.place = 1 or (m.place <= ${gapMessages}::bigint and m.bytes <= ${gapBytes}::bigint) as fits
      ) f
    ) newest on o.owned
    left join lateral (
      -- Of a round that alone is too long, its question is shown as well.
      select case when newest.cut then coalesce(newest.round_seq, newest.call_seq, newest.first_seq) else newest.first_seq end
          as from_seq,
        case when newest.cut and newest.round_seq is null then (
          select m.seq from ${db.schema}.message m
          where m.thread_ref = t.id and m.role = 'user' and m.seq > coalesce(s.end_seq, -1)
            and m.seq < newest.first_seq
          order by m.seq desc limit 1
        ) end as question_seq
    ) shown on o.owned
    left join lateral (
      select ${messagesJson}
      from (
        select * from ${db.schema}.message m where m.thread_ref = t.id and m.seq = shown.question_seq
        union all
        select * from ${db.schema}.message m where m.thread_ref = t.id and m.seq >= shown.from_seq ${beforeFork}
      ) m
    ) gap on o.owned`;
}

/** The joins `asked` to `recent`: the last messages that the summary `s` covers, from the start of a round. */
function recentlyCovered(
  db: Connection,
  messageIds: readonly string[] | null,
  { recentMessages: kept, recentBytes }: ReadLimits,
): Sql {
  return sql`left join lateral (
      select m.seq from ${db.schema}.message m
      where m.thread_ref = t.id and m.role = 'user' and (${messageIds === null} or m.seq <= s.end_seq)
      order by m.seq desc limit 1
    ) asked on asked.seq <= s.end_seq
    left join lateral (
      -- Where the last messages begin that the summary covers.
      select coalesce((
        select m.seq from ${db.schema}.message m
        where m.thread_ref = t.id and m.role <> 'system' and m.seq <= s.end_seq
        order by m.seq desc offset greatest(${kept}::bigint - 1, 0) limit 1
      ), 0) as seq
    ) kept on s.id is not null and ${kept}::bigint > 0
    left join lateral (
      select m.seq from ${db.schema}.message m
      where m.thread_ref = t.id and m.role = 'user' and m.seq <= kept.seq
      order by m.seq desc limit 1
    ) round on true
    left join lateral (
      select coalesce(round.seq, kept.seq, asked.seq) as from_seq, s.end_seq - ${kept}::bigint - ${mostRoundMessages} as near_seq
    ) last on true
    left join lateral (
      -- A long round is not read whole.
      select ${messagesJson}
      from (
        select * from ${db.schema}.message m where m.thread_ref = t.id and m.seq = last.from_seq
        union all
        select * from ${db.schema}.message m
        where m.thread_ref = t.id and m.seq > last.from_seq and m.seq > last.near_seq and m.seq <= s.end_seq
      ) m
      where m.role <> 'system' and (m.role <> 'tool' or octet_length(m.content) <= ${recentBytes}::bigint)
    ) recent on o.owned`;
}
