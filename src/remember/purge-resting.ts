import sql from "sql-template-tag";
import { learnedWords, withoutSource } from "../memories/audit/snapshot.js";
import { memoryStates } from "../memories/item/memory.js";
import type { Connection } from "../postgres/connection.js";
import { eraseMemoryRows, findErasable } from "../retention/forgetting/erase-memories.js";
import { eraseTold } from "../transcript/told-words.js";
import { type Ending, restsOnChanged, type Settling } from "./settle-resting.js";

const removedReason = "The message that it was learned from was removed.";

/** Deletes memories with their audit trail; an entry without words says who asked. */
export const purging: Ending = {
  states: memoryStates,
  async end(tx, { ownerRef, scope, actor }, { memories, consents }) {
    // A decision's entry is about its request.
    await tx.query(
      sql`delete from ${tx.schema}.history where memory_id = any (${consents}::uuid[])`,
    );
    await tx.query(
      sql`delete from ${tx.schema}.consent_request where id = any (${consents}::uuid[])`,
    );
    await eraseTold(tx, { ownerRef, ids: consents });
    const ids = memories.map(({ id }) => id);
    const isPurged = sql`x.owner_ref = ${ownerRef} and x.id = any (${ids}::uuid[])`;
    await eraseMemoryRows(tx, {
      ownerRef: String(ownerRef),
      scope,
      found: await findErasable(tx, sql`${isPurged} order by array_position(${ids}::uuid[], x.id)`),
      audit: { actor, reason: removedReason },
    });
  },
};

/** Takes the message's words out of records that stay: who decided what stays known. */
export async function clearQuotes(
  tx: Connection,
  { ownerRef, threadId, thread }: Settling,
): Promise<void> {
  const { schema } = tx;
  const seqs = sql`to_jsonb(${thread.messages.map(({ seq }) => seq)}::integer[])`;
  const ids = sql`(
    select m.message_id from ${schema}.message m where m.thread_ref = ${thread.threadRef} and to_jsonb(m.seq) <@ ${seqs}
  )`;
  await tx.query(sql`
    update ${schema}.consent_request c set evidence = null
    where c.owner_ref = ${ownerRef} and c.evidence ->> 'threadId' = ${threadId} and c.evidence ->> 'messageId' in ${ids}`);
  await tx.query(sql`
    update ${schema}.history h set new = jsonb_set(h.new, '{evidence}', 'null')
    where h.owner_ref = ${ownerRef} and h.new #>> '{evidence,threadId}' = ${threadId}
      and (h.new #> '{evidence,seq}' <@ ${seqs} or h.new #>> '{evidence,messageId}' in ${ids})`);
  await tx.query(sql`
    update ${schema}.history h set new = h.new - ${learnedWords}
    where h.owner_ref = ${ownerRef} and ${restsOnChanged(sql`h.new`, threadId, thread)}`);
  // What was once learned from it, and now rests on other messages.
  await tx.query(sql`
    update ${schema}.history h set snapshot = ${withoutSource}
    where h.owner_ref = ${ownerRef} and h.snapshot ->> 'threadId' = ${String(thread.threadRef)} and (
      exists (select from jsonb_array_elements(h.snapshot -> 'sourceSeqs') c (seq) where c.seq <@ ${seqs})
      or exists (
        select from unnest(${thread.messages.map(({ before }) => before)}::text[]) b (words)
        where strpos(b.words, h.snapshot ->> 'evidence') > 0
      )
    )`);
  // A model's invalid answers may quote it.
  await tx.query(sql`
    update ${schema}.work k set output = null, error = null
    where k.thread_ref = ${thread.threadRef} and (k.output is not null or k.error is not null)`);
}
