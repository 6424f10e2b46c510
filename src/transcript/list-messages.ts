import sql from "sql-template-tag";
import { z } from "zod";
import { pageRowsField, parseInput } from "../input/parse-input.js";
import type { MessageRole } from "../messages/message-text.js";
import type { Connection } from "../postgres/connection.js";
import { requiredScope, requiredThread, threadForbidden } from "../scope/scope.js";
import { isOwnThread, threadIs } from "../scope/scope-predicates.js";

export interface ThreadMessage {
  /** Position in the thread, from 0. */
  readonly seq: number;
  readonly messageId: string;
  readonly role: MessageRole;
  readonly actor: string | null;
  readonly agentId: string | null;
  /** Cut at `maxCharacters`. */
  readonly text: string;
  /** Length of the whole text. */
  readonly characters: number;
  readonly saidAt: Date;
  /** Where it was said, as "Europe/Lisbon". */
  readonly timeZone: string;
}

const seq = z.int().min(-1).max(2_147_483_647);
const listSchema = z
  .strictObject({
    scope: requiredScope,
    threadId: requiredThread,
    /** Rows, 1 to 1000. @default 100 */
    limit: pageRowsField,
    /** Only the last ones before this `seq`. @default the last ones of the thread */
    before: seq.optional(),
    /** Only the first ones after this `seq`; -1 for the beginning. */
    after: seq.optional(),
    /** Cuts each text, 1 to 1,000,000,000 characters. @default whole texts */
    maxCharacters: z.int().min(1).max(1_000_000_000).optional(),
  })
  .refine(
    ({ before, after }) => before === undefined || after === undefined,
    "`before` or `after`, not both",
  );

export interface ListMessages extends z.input<typeof listSchema> {}

/**
 * One round trip; empty for an unknown thread.
 * @throws MemoryError `THREAD_FORBIDDEN`, `INVALID_INPUT`
 */
export async function listMessages(db: Connection, input: ListMessages): Promise<ThreadMessage[]> {
  const asked = parseInput(listSchema, input, "page of messages");
  const { scope, threadId, limit, before, after, maxCharacters } = asked;
  const isOwned = isOwnThread(scope);
  const rows = await db.query<ThreadMessage & { readonly owned: boolean }>(sql`
    select ${isOwned} as owned, x.*
    from ${db.schema}.thread t left join lateral (
      select m.seq, m.message_id as "messageId", m.role, m.actor, m.agent_id as "agentId",
        ${maxCharacters === undefined ? sql`m.content` : sql`left(m.content, ${maxCharacters})`} as text,
        length(m.content) as characters, m.said_at as "saidAt", m.time_zone as "timeZone"
      from ${db.schema}.message m
      where m.thread_ref = t.id and m.seq < coalesce(${before ?? null}::int, 2147483647)
        and m.seq > coalesce(${after ?? null}::int, -1)
      order by ${after === undefined ? sql`m.seq desc` : sql`m.seq`}
      limit ${limit}
    ) x on ${isOwned}
    where ${threadIs(scope.tenantId ?? "", threadId)}
    order by x.seq`);
  if (rows.some(({ owned }) => !owned)) throw threadForbidden(threadId);
  // A thread without such messages is one row of nulls.
  return rows.flatMap(({ owned: _, ...message }) => (message.seq === null ? [] : message));
}
