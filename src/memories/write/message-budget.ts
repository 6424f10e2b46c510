import sql from "sql-template-tag";
import { MemoryError } from "../../errors.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import { contentHash } from "../../text/normal-value.js";
import type { MemoryOptions } from "../item/memory-options.js";

/**
 * Identifies the user's message that a tool answers, in audit entries and signals: a digest, which
 * outlives a deleted thread without naming it.
 */
export function hashOfMessage(message: {
  readonly threadId?: string | undefined;
  readonly messageId?: string | undefined;
}): string | undefined {
  const { threadId = null, messageId } = message;
  return messageId === undefined ? undefined : contentHash(JSON.stringify([threadId, messageId]));
}

/**
 * Limits what a misled model can do with one message of the user: memories that it changes and
 * adds, also those that wait for consent, and what such tools add in a day. Counts the audit trail
 * after the writes, in their transaction and under the owner's lock, so that its error undoes them.
 * @throws MemoryError `CONFLICT`
 */
export async function requireBudget(
  tx: Connection,
  ownerRef: OwnerRef,
  messageHash: string | undefined,
  { writesPerTurn, writesPerDay }: MemoryOptions,
): Promise<void> {
  if (messageHash === undefined) return;
  const { schema } = tx;
  const dayAgo = sql`${tx.now()} - interval '1 day'`;
  const signal = JSON.stringify([{ messageHash }]);
  const [counts] = await tx.query<{ changed: number; added: number; today: number }>(sql`
    with entry as (
      select h.new ->> 'messageHash' = ${messageHash} as is_own, h.event in ('ADD', 'MERGE') as adds
      from ${schema}.history h
      where h.owner_ref = ${ownerRef} and h.created_at > ${dayAgo} and h.new ? 'messageHash'
        and h.event in ('ADD', 'MERGE', 'UPDATE', 'DELETE') and not h.new ? 'refused'
        -- What absorbed a duplicate has an entry of its own.
        and not (h.event = 'MERGE' and h.new ? 'supersededBy')
    )
    select count(*) filter (where is_own and not adds)::int as changed,
      count(*) filter (where is_own and adds)::int + (
        select count(*)::int from ${schema}.consent_request c
        where c.owner_ref = ${ownerRef} and c.created_at > ${dayAgo} and c.signals @> ${signal}::jsonb
      ) as added,
      count(*) filter (where adds)::int as today
    from entry`);
  const { changed = 0, added = 0, today = 0 } = counts ?? {};
  if (changed > writesPerTurn)
    throw exceeded(
      `One message of the user may change, replace or forget ${writesPerTurn} memories, and this one has. Ask the user which ` +
        "others to change: the next message may change as many. The app forgets all of a user's memories with memory.forget.",
    );
  if (added > writesPerTurn)
    throw exceeded(
      `One message of the user may add ${writesPerTurn} memories, and this one has. Ask the user what else to remember: the ` +
        "next message may add as many.",
    );
  if (today > writesPerDay)
    throw exceeded(
      `Tools may add ${writesPerDay} memories of one user in 24 hours (memories.writesPerDay), and they have. Tell the user ` +
        "what is not remembered, and try again tomorrow.",
    );
}

const exceeded = (message: string) => new MemoryError("CONFLICT", message);
