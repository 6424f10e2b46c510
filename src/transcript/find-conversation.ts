import sql, { type Sql } from "sql-template-tag";
import type { TranscriptMessage } from "../messages/message-text.js";
import type { Connection } from "../postgres/connection.js";
import type { ThreadAddress } from "../scope/scope.js";
import { scopeColumns } from "../scope/scope-predicates.js";
import type { ReadLimits } from "./context-options.js";
import { maxTurnMessages } from "./conversation-context.rule.js";
import type { ShownNews, ShownPart } from "./shown-turns.js";

export interface ConversationSummary {
  readonly id: number;
  readonly startSeq: number;
  readonly endSeq: number;
  readonly text: string;
  readonly endMessageId: string;
  readonly startTurn: number;
  readonly endTurn: number;
}

interface OpenEpoch {
  /** In milliseconds. */
  readonly openedAt: number;
  readonly omitted: number;
  /** The opening turn first: its block, then what each turn added. */
  readonly lines: readonly (readonly [
    messageId: string,
    memoryId: string | null,
    part: ShownPart | null,
  ])[];
  /** What its turns were told beside memories. */
  readonly news: readonly (readonly [messageId: string, ShownNews])[];
}

export interface Conversation {
  /** Until an epoch names a day: when the user said each message that it shows, in order. */
  readonly said: readonly (readonly [messageId: string, saidAt: string])[];
  /** Null if this turn opens one. */
  readonly epoch: OpenEpoch | null;
  readonly firstSeq: number;
  readonly lastMessageId: string | null;
  /** −1 before the first message. */
  readonly lastSeq: number;
  readonly summary: ConversationSummary | null;
  readonly processing: {
    readonly id: number;
    readonly startSeq: number;
    readonly endSeq: number;
  } | null;
  readonly gap: TranscriptMessage[];
  /** The oldest gap messages if there are too many to show. */
  readonly omitted: { readonly messages: number; readonly endMessageId: string } | null;
  /**
   * The last messages that the summary covers, from a turn's start; long results and a long turn's
   * middle are omitted.
   */
  readonly recent: TranscriptMessage[];
  /**
   * The turn at the summary's end, if the gap has no user's message; of a long one the question.
   */
  readonly lastTurn: TranscriptMessage[];
  /** Ids of held messages that say something else than the transcript. */
  readonly edited: readonly string[];
}

export interface ConversationRow
  extends Pick<
    Conversation,
    "summary" | "processing" | "gap" | "recent" | "omitted" | "epoch" | "edited"
  > {
  readonly owned: boolean;
  readonly rev_seen: number;
  readonly said: Conversation["said"] | null;
}

export interface ConversationAddress extends ThreadAddress {
  /** Selects the latest summary that ends with one of these, or before all of them. */
  readonly messageIds?: readonly string[] | null | undefined;
  /** Messages in the caller's state: they come without text. */
  readonly heldIds?: readonly string[] | undefined;
  /** Of those, `wordsCheck` of what users and assistants say; null for others. */
  readonly heldChecks?: readonly (number | null)[] | undefined;
}

/** No row for a new thread; for another scope's only `owned` and `rev_seen`. */
export function conversationRow(
  db: Connection,
  { scope, threadId, messageIds = null, heldIds = [], heldChecks = [] }: ConversationAddress,
  readable: readonly string[],
  { epochBytes, cacheMs, recentMessages, recentBytes, gapMessages, gapBytes }: ReadLimits,
): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  return sql`
    select owned, rev_seen, summary, processing, gap, recent, omitted, epoch, shown_ids, said, edited
    from ${db.schema}.conversation_1(
      ${tenantId}, ${userId}, ${appId}, ${threadId}, ${messageIds}::text[], ${heldIds}::text[], ${heldChecks}::integer[],
      ${readable}::text[], ${epochBytes}, ${cacheMs},
      ${recentMessages}, ${recentBytes}, ${maxTurnMessages}, ${gapMessages}, ${gapBytes}, ${db.now()}
    )`;
}

/** Undefined without a row, null for another scope's. */
export function conversationOf(
  row: ConversationRow | null | undefined,
): Conversation | null | undefined {
  if (!row) return undefined;
  if (!row.owned) return null;
  const { summary, processing, gap, omitted, recent, epoch, edited } = row;
  // Without a gap, the summary ends with the last message.
  const last = gap.at(-1);
  return {
    said: row.said ?? [],
    lastMessageId: last?.messageId ?? summary?.endMessageId ?? null,
    lastSeq: last?.seq ?? summary?.endSeq ?? -1,
    summary,
    processing,
    gap,
    recent,
    epoch,
    edited,
    firstSeq: (recent[0] ?? gap[0])?.seq ?? (summary?.endSeq ?? -1) + 1,
    // A turn one message over the limit shows its question, so nothing is omitted.
    omitted: omitted && omitted.messages > 0 ? omitted : null,
    lastTurn: gap.some(({ role }) => role === "user") ? [] : lastTurnOf(recent),
  };
}

function lastTurnOf(recent: readonly TranscriptMessage[]): TranscriptMessage[] {
  const asked = recent.findLastIndex(({ role }) => role === "user");
  if (asked < 0) return [];
  const turn = recent.slice(asked);
  const length = (recent.at(-1)?.seq ?? 0) - (recent[asked]?.seq ?? 0) + 1;
  return length > maxTurnMessages ? turn.slice(0, 1) : turn;
}
