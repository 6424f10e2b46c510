import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { scopeColumns } from "../scope/scope-predicates.js";
import type { TranscriptMessage } from "../text/message-text.js";
import type { ReadLimits } from "./context-options.js";
import { mostTurnMessages } from "./conversation-context.rule.js";
import type { ShownPart } from "./shown-turns.js";

interface ConversationSummary {
  readonly id: number;
  readonly startSeq: number;
  readonly endSeq: number;
  readonly text: string;
  readonly endMessageId: string;
  /** The turns of the thread that it covers, counted from 1. */
  readonly startTurn: number;
  readonly endTurn: number;
}

/** What earlier turns of an epoch were shown. */
interface OpenEpoch {
  /** The owner's revision when it was opened. */
  readonly revision: number;
  /** Memories left out of its block. */
  readonly omitted: number;
  /** By the message that they were shown with, the opening turn's first: its block and what each turn added. */
  readonly lines: readonly (readonly [messageId: string, memoryId: string | null, part: ShownPart | null])[];
}

export interface Conversation {
  /** Null where this turn opens one. */
  readonly epoch: OpenEpoch | null;
  /** The first message shown word for word. */
  readonly firstSeq: number;
  /** Where the newest summary ends, which a later turn shows. */
  readonly summarisedId: string | null;
  /** Null before the first message. */
  readonly lastMessageId: string | null;
  /** −1 before the first message. */
  readonly lastSeq: number;
  readonly summary: ConversationSummary | null;
  readonly processing: { readonly id: number; readonly startSeq: number; readonly endSeq: number } | null;
  readonly gap: TranscriptMessage[];
  /** The oldest of them that are left out, since they are too many to be shown; null when all are there. */
  readonly omitted: Omitted | null;
  /** The last messages that the summary covers, from a turn's start; long turns and long results are cut. */
  readonly recent: TranscriptMessage[];
  /** The turn that the summary ends with, where the gap has no user's message; of a long one the question. */
  readonly lastTurn: TranscriptMessage[];
}

interface Omitted {
  readonly messages: number;
  readonly endMessageId: string;
}

export interface ConversationRow extends Pick<Conversation, "summary" | "processing" | "gap" | "recent" | "epoch"> {
  readonly owned: boolean;
  readonly rev_seen: number;
  readonly omitted: Omitted | null;
  readonly summarised_id: string | null;
  readonly first_shown: number;
}

export interface ConversationAddress {
  readonly scope: Scope;
  readonly threadId: string;
  /** Then the summary is the latest one that ends with one of these messages, or before all of them. */
  readonly messageIds?: readonly string[] | null | undefined;
  /** Ids of messages that the caller holds: they come without their words. */
  readonly heldIds?: readonly string[] | undefined;
}

/** No row for a new thread; of another scope's only `owned` and `rev_seen`. */
export function conversationRow(
  db: Connection,
  { scope, threadId, messageIds = null, heldIds = [] }: ConversationAddress,
  readable: readonly string[],
  { tailBytes, cacheMs, recentMessages, recentBytes, gapMessages, gapBytes }: ReadLimits,
): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  return sql`
    select owned, rev_seen, summary, processing, gap, recent, omitted, epoch, shown_ids, summarised_id, first_shown
    from ${db.schema}.conversation_1(
      ${tenantId}, ${userId}, ${appId}, ${threadId}, ${messageIds}::text[], ${heldIds}::text[],
      ${readable}::text[], ${tailBytes}, ${cacheMs},
      ${recentMessages}, ${recentBytes}, ${mostTurnMessages}, ${gapMessages}, ${gapBytes}, ${db.now()}
    )`;
}

/** The conversation of `row`: `undefined` without a row, `null` when it belongs to another scope. */
export function conversationOf(row: ConversationRow | null | undefined): Conversation | null | undefined {
  if (!row) return undefined;
  if (!row.owned) return null;
  const { summary, processing, gap, omitted, recent, epoch } = row;
  // Nothing lies beyond the gap, and without one the summary ends with the last message.
  const last = gap.at(-1);
  return {
    lastMessageId: last?.messageId ?? summary?.endMessageId ?? null,
    lastSeq: last?.seq ?? summary?.endSeq ?? -1,
    summary,
    processing,
    gap,
    recent,
    epoch,
    firstSeq: row.first_shown,
    summarisedId: row.summarised_id,
    // Of a turn that is one message too long, its question is shown, and so nothing is left out.
    omitted: omitted && omitted.messages > 0 ? omitted : null,
    lastTurn: gap.some(({ role }) => role === "user") ? [] : lastTurnOf(recent),
  };
}

function lastTurnOf(recent: readonly TranscriptMessage[]): TranscriptMessage[] {
  const asked = recent.findLastIndex(({ role }) => role === "user");
  if (asked < 0) return [];
  const turn = recent.slice(asked);
  const length = (recent.at(-1)?.seq ?? 0) - (recent[asked]?.seq ?? 0) + 1;
  return length > mostTurnMessages ? turn.slice(0, 1) : turn;
}
