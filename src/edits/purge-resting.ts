import sql from "sql-template-tag";
import { existingTables } from "../checkpoints/checkpoint-names.js";
import { eraseFound } from "../forgetting/erase-statements.js";
import { memoryTables } from "../forgetting/erasure-tables.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import { evidenceLink } from "../memories/write/remove-resting.js";
import type { Connection } from "../postgres/connection.js";
import { findErasureScope } from "../scope/erasure-scope.js";
import type { OwnerRef, Scope } from "../scope/scope.js";
import { lockOwner } from "../scope/scope-predicates.js";
import {
  type ChangedThread,
  findCoveringEpisodes,
  findCoveringNotes,
  findRestingFacts,
} from "./resting-memories.js";

const everyState: readonly MemoryItem["state"][] = [
  "active",
  "superseded",
  "merged",
  "soft_deleted",
  "quarantined",
];

export interface Purge {
  readonly ownerRef: OwnerRef;
  readonly scope: Scope;
  readonly threadId: string;
  readonly thread: ChangedThread;
  /** @default "remove" */
  readonly actor?: string | undefined;
}

/**
 * Deletes what rests on a removed message: facts, with the insights derived from them, the episodes
 * and notes that cover it, and its words in records that stay. Returns the deleted memories.
 */
export async function purgeResting(tx: Connection, purge: Purge): Promise<MemoryItem[]> {
  const { ownerRef, scope, thread, actor } = purge;
  const facts = await findRestingFacts(tx, ownerRef, thread, everyState);
  const insights = await findInsights(tx, ownerRef, facts);
  const episodes = await findCoveringEpisodes(tx, ownerRef, thread, everyState);
  // Insights come before their evidence, by which they are found.
  const own = [...insights, ...facts, ...episodes];
  await erase(tx, { ownerRef, scope, actor }, own);
  await clearQuotes(tx, purge);
  const notes = await findCoveringNotes(tx, thread, everyState);
  for (const { ownerRef: app, scope: ofApp, note } of notes) {
    // An app's notes are another owner's.
    await lockOwner(tx, ofApp);
    await erase(tx, { ownerRef: app, scope: ofApp, actor }, [note]);
  }
  return [...own, ...notes.map(({ note }) => note)];
}

async function erase(
  tx: Connection,
  { ownerRef, scope, actor = "remove" }: Pick<Purge, "ownerRef" | "scope" | "actor">,
  memories: readonly MemoryItem[],
): Promise<void> {
  if (memories.length === 0) return;
  const refs = await tx.query<{ ref: string; id: string }>(sql`
    select m.ref::text as ref, m.id from ${tx.schema}.memory m
    where m.owner_ref = ${ownerRef} and m.id = any (${memories.map(({ id }) => id)}::uuid[])`);
  const byId = new Map(refs.map(({ id, ref }) => [id, ref]));
  await eraseFound(tx, {
    scope: await findErasureScope(tx, scope),
    owner: scope,
    ownerRef: String(ownerRef),
    found: memories.map(({ id, category, importance, state }) => {
      return { ref: byId.get(id) ?? "0", id, category, importance, active: state === "active" };
    }),
    tables: await existingTables(tx, memoryTables),
    audit: { actor, reason: "The message that it was learned from was removed." },
  });
}

async function findInsights(
  tx: Connection,
  ownerRef: OwnerRef,
  facts: readonly MemoryItem[],
): Promise<MemoryItem[]> {
  if (facts.length === 0) return [];
  const rows = await tx.query<{ memory: MemoryJson }>(sql`
    select ${memoryJson(tx)} as memory from ${tx.schema}.memory m
    where m.owner_ref = ${ownerRef} and m.kind = 'insight' and m.ref in (
      select r.from_ref from ${tx.schema}.relation r join ${tx.schema}.memory e on e.ref = r.to_ref
      where r.relation_type = ${evidenceLink} and e.id = any (${facts.map(({ id }) => id)}::uuid[])
    )
    order by m.ref`);
  return rows.map(({ memory }) => memoryOf(memory));
}

/** Takes the message's words out of records that stay: who decided what stays known. */
async function clearQuotes(tx: Connection, { ownerRef, threadId, thread }: Purge): Promise<void> {
  const { schema } = tx;
  const seqs = sql`to_jsonb(${thread.messages.map(({ seq }) => seq)}::integer[])`;
  const ids = sql`(
    select m.message_id from ${schema}.message m where m.thread_ref = ${thread.threadRef} and to_jsonb(m.seq) <@ ${seqs}
  )`;
  await tx.query(sql`
    delete from ${schema}.consent_request c
    where c.owner_ref = ${ownerRef} and c.draft #>> '{source,threadId}' = ${threadId}
      and c.draft #> '{source,seqs}' <@ ${seqs} and c.draft #> '{source,seqs}' <> '[]'`);
  await tx.query(sql`
    update ${schema}.consent_request c set evidence = null
    where c.owner_ref = ${ownerRef} and c.evidence ->> 'threadId' = ${threadId} and c.evidence ->> 'messageId' in ${ids}`);
  await tx.query(sql`
    update ${schema}.history h
    set new = case when h.new #>> '{evidence,threadId}' = ${threadId} then jsonb_set(h.new, '{evidence}', 'null') else h.new end
      - case when h.new #>> '{source,threadId}' = ${threadId} then 'source' else '' end
    where h.owner_ref = ${ownerRef} and (
      h.new #>> '{evidence,threadId}' = ${threadId}
        and (h.new #> '{evidence,seq}' <@ ${seqs} or h.new #>> '{evidence,messageId}' in ${ids})
      or h.new #>> '{source,threadId}' = ${threadId} and h.new #> '{source,seqs}' <@ ${seqs}
    )`);
  // A model's invalid answers may quote it.
  await tx.query(sql`
    update ${schema}.work k set output = null, error = null
    where k.thread_ref = ${thread.threadRef} and (k.output is not null or k.error is not null)`);
}
