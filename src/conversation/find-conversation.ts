import sql, { empty, type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { scopeColumns, threadIs } from "../scope/scope-predicates.js";
import type { TranscriptMessage } from "../text/message-text.js";
import { mostRoundMessages } from "./conversation-context.rule.js";
import type { ReadLimits } from "./conversation-options.js";

/** A completed summary, as recall needs it. */
export interface ConversationSummary {
  readonly id: number;
  readonly startSeq: number;
  readonly endSeq: number;
  readonly text: string;
  /** Id of the message at `endSeq`. */
  readonly endMessageId: string;
  /** The rounds of the thread that it stands for, counted from 1. */
  readonly startRound: number;
  readonly endRound: number;
}

/** What is known of a thread at the start of a round. */
export interface Conversation {
  /** Null before the first message. */
  readonly lastMessageId: string | null;
  /** −1 before the first message. */
  readonly lastSeq: number;
  /** The latest completed summary. */
  readonly summary: ConversationSummary | null;
  /** A newer summary that is being made. */
  readonly processing: { readonly id: number; readonly startSeq: number; readonly endSeq: number } | null;
  /** The messages after the summary's end, in order. */
  readonly gap: TranscriptMessage[];
  /** The oldest of them that are left out, since they are too many to be shown; null when all are there. */
  readonly leftOut: LeftOut | null;
  /**
   * The last messages that the summary covers, from the start of a round, in order. Of a long round the question and what
   * came last; results of tools that are too long are not there.
   */
  readonly recent: TranscriptMessage[];
  /** The round that the summary ends with, where the gap holds no user's message; of a long one the question. */
  readonly lastRound: TranscriptMessage[];
}

/** A stretch of a conversation that is not shown. */
export interface LeftOut {
  readonly messages: number;
  /** Id of the last of them. */
  readonly endMessageId: string;
}

/** A row of `conversationRow`. */
export interface ConversationRow {
  readonly owned: boolean;
  readonly rev_seen: number;
  readonly summary: ConversationSummary | null;
  readonly processing: Conversation["processing"];
  readonly gap: TranscriptMessage[];
  readonly left_out: LeftOut | null;
  readonly recent: TranscriptMessage[];
}

/** Which conversation, and from which branch of it one looks. */
export interface ConversationAddress {
  readonly scope: Scope;
  readonly threadId: string;
  /** Then the summary is the latest one that ends with one of these messages, or before all of them. */
  readonly messageIds?: readonly string[] | null | undefined;
}

/** Query for the one row of a conversation: none for a thread not seen before, all but `owned` empty for another scope's. */
export function conversationRow(
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
        'endMessageId', s.end_message_id, 'startRound', rounds.first, 'endRound', rounds.last
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
      ) end as left_out
    from ${db.schema}.thread t
    cross join lateral (select t.user_id = ${userId} and t.app_id = ${appId} as owned) o
    left join lateral (
      select s.id, s.start_seq, s.end_seq, s.content, s.start_round, s.end_round, m.message_id as end_message_id
      from ${db.schema}.summary s
      join ${db.schema}.message m on m.thread_ref = s.thread_ref and m.seq = s.end_seq
      where s.thread_ref = t.id and s.status = 'completed' and s.rolled_back_at is null
        and ${inBranch}
      order by s.end_seq desc, s.id desc limit 1
    ) s on o.owned
    left join lateral (
      select s.id, s.start_seq, s.end_seq from ${db.schema}.summary s
      where s.thread_ref = t.id and s.status = 'processing' and s.lease_until > ${db.now()}
    ) p on o.owned
    ${shownGap(db, messageIds, limits)}
    ${recentlyCovered(db, messageIds, limits)}
    left join lateral (
      -- Kept with summaries that were made here; imported and older ones have none.
      select coalesce(s.start_round, (
          select count(*)::int from ${db.schema}.message m
          where m.thread_ref = t.id and m.role = 'user' and m.seq <= s.start_seq
        )) as first,
        coalesce(s.end_round, (
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

/** The conversation of `row`: `undefined` without a row, `null` when it belongs to another scope. */
export function conversationOf(row: ConversationRow | null | undefined): Conversation | null | undefined {
  if (!row) return undefined;
  if (!row.owned) return null;
  const { summary, processing, gap, left_out: leftOut, recent } = row;
  // Nothing lies beyond the gap, and without one the summary ends with the last message.
  const last = gap.at(-1);
  return {
    lastMessageId: last?.messageId ?? summary?.endMessageId ?? null,
    lastSeq: last?.seq ?? summary?.endSeq ?? -1,
    ...{ summary, processing, gap, recent },
    // Of a round that is one message too long, its question is shown, and so nothing is left out.
    leftOut: leftOut && leftOut.messages > 0 ? leftOut : null,
    lastRound: gap.some(({ role }) => role === "user") ? [] : lastRoundOf(recent),
  };
}

/** The last round among `recent`, a long one's question alone; nothing where no user's message is there. */
function lastRoundOf(recent: readonly TranscriptMessage[]): TranscriptMessage[] {
  const asked = recent.findLastIndex(({ role }) => role === "user");
  if (asked < 0) return [];
  const round = recent.slice(asked);
  const length = (recent.at(-1)?.seq ?? 0) - (recent[asked]?.seq ?? 0) + 1;
  return length > mostRoundMessages ? round.slice(0, 1) : round;
}
