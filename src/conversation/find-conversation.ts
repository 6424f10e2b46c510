import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { scopeColumns, threadIs } from "../scope/scope-predicates.js";
import type { TranscriptMessage } from "../text/message-text.js";
import { mostRoundMessages } from "./conversation-context.rule.js";

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
  /** Every message after the summary's end, in order. */
  readonly gap: TranscriptMessage[];
  /** The round that the summary ends with, where the gap holds no user's message; of a long one the question. */
  readonly lastRound: TranscriptMessage[];
}

/** A row of `conversationRow`. */
export interface ConversationRow {
  readonly owned: boolean;
  readonly rev_seen: number;
  readonly summary: ConversationSummary | null;
  readonly processing: Conversation["processing"];
  readonly gap: TranscriptMessage[];
  readonly last_round: TranscriptMessage[];
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
): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const inBranch = sql`(
    ${messageIds}::text[] is null or m.message_id = any(${messageIds}::text[])
    or not exists (
      select from ${db.schema}.message held
      where held.thread_ref = t.id and held.seq <= s.end_seq and held.message_id = any(${messageIds}::text[])
    )
  )`;
  const messages = sql`coalesce(json_agg(json_build_object(
        'seq', m.seq, 'messageId', m.message_id, 'role', m.role, 'actor', m.actor, 'text', m.content,
        'serialised', m.serialised
      ) order by m.seq), '[]') as messages`;
  return sql`
    select o.owned, t.rev_seen::float8 as rev_seen,
      case when s.id is not null then json_build_object(
        'id', s.id, 'startSeq', s.start_seq, 'endSeq', s.end_seq, 'text', s.content,
        'endMessageId', s.end_message_id, 'startRound', rounds.first, 'endRound', rounds.last
      ) end as summary,
      case when p.id is not null then json_build_object(
        'id', p.id, 'startSeq', p.start_seq, 'endSeq', p.end_seq
      ) end as processing,
      gap.messages as gap, round.messages as last_round
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
    left join lateral (
      select ${messages}
      from ${db.schema}.message m where m.thread_ref = t.id and m.seq > coalesce(s.end_seq, -1)
    ) gap on o.owned
    left join lateral (
      select m.seq from ${db.schema}.message m
      where m.thread_ref = t.id and m.role = 'user' and (${messageIds === null} or m.seq <= s.end_seq)
      order by m.seq desc limit 1
    ) asked on asked.seq <= s.end_seq
    left join lateral (
      select ${messages}
      from ${db.schema}.message m
      where m.thread_ref = t.id and m.seq between asked.seq and s.end_seq
        and (m.seq = asked.seq or s.end_seq - asked.seq < ${mostRoundMessages})
    ) round on o.owned
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

/** The conversation of `row`: `undefined` without a row, `null` when it belongs to another scope. */
export function conversationOf(row: ConversationRow | null | undefined): Conversation | null | undefined {
  if (!row) return undefined;
  if (!row.owned) return null;
  const { summary, processing, gap, last_round: lastRound } = row;
  // Nothing lies beyond the gap, and without one the summary ends with the last message.
  const last = gap.at(-1);
  return {
    lastMessageId: last?.messageId ?? summary?.endMessageId ?? null,
    lastSeq: last?.seq ?? summary?.endSeq ?? -1,
    summary,
    processing,
    gap,
    lastRound,
  };
}

/** The conversation at `address`: `undefined` for a thread not seen before, `null` for one of another scope. */
export async function findConversation(
  db: Connection,
  address: ConversationAddress,
): Promise<Conversation | null | undefined> {
  const [row] = await db.query<ConversationRow & Record<string, unknown>>(conversationRow(db, address));
  return conversationOf(row);
}
