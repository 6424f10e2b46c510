import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { scopeColumns } from "../scope/scope-predicates.js";
import type { TranscriptMessage } from "../text/message-text.js";
import { mostRoundMessages } from "./conversation-context.rule.js";
import type { ReadLimits } from "./conversation-options.js";

/** A completed summary, as recall needs it. */
interface ConversationSummary {
  readonly id: number;
  readonly startSeq: number;
  readonly endSeq: number;
  readonly text: string;
  /** Id of the message at `endSeq`. */
  readonly endMessageId: string;
  /** The rounds of the thread that it stands for, counted from 1. */
  readonly startTurn: number;
  readonly endTurn: number;
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
interface LeftOut {
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
  readonly omitted: LeftOut | null;
  readonly recent: TranscriptMessage[];
}

/** Which conversation, and from which branch of it one looks. */
export interface ConversationAddress {
  readonly scope: Scope;
  readonly threadId: string;
  /** Then the summary is the latest one that ends with one of these messages, or before all of them. */
  readonly messageIds?: readonly string[] | null | undefined;
}

/**
 * Query for the one row of a conversation: none for a thread not seen before, all but `owned` and `rev_seen` empty for
 * another scope's. The schema's function `conversation` makes it.
 */
export function conversationRow(
  db: Connection,
  { scope, threadId, messageIds = null }: ConversationAddress,
  { recentMessages, recentBytes, gapMessages, gapBytes }: ReadLimits,
): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  return sql`
    select owned, rev_seen, summary, processing, gap, recent, omitted
    from ${db.schema}.conversation(
      ${tenantId}, ${userId}, ${appId}, ${threadId}, ${messageIds}::text[],
      ${recentMessages}, ${recentBytes}, ${mostRoundMessages}, ${gapMessages}, ${gapBytes}, ${db.now()}
    )`;
}

/** The conversation of `row`: `undefined` without a row, `null` when it belongs to another scope. */
export function conversationOf(row: ConversationRow | null | undefined): Conversation | null | undefined {
  if (!row) return undefined;
  if (!row.owned) return null;
  const { summary, processing, gap, omitted: leftOut, recent } = row;
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
