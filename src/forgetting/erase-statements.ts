import sql from "sql-template-tag";
import { changeLine, wordlessLine } from "../memories/changes/change-line.js";
import { recordChanges } from "../memories/changes/record-changes.js";
import { changedSources } from "../memories/item/source-rows.js";
import type { Connection } from "../postgres/connection.js";
import { type ErasureScope, hasMemory, hasScope, threadsOf } from "../scope/erasure-scope.js";
import type { Scope } from "../scope/scope.js";

export interface ErasableMemory {
  readonly ref: string;
  readonly id: string;
  readonly category: string;
  readonly importance: number;
  readonly active: boolean;
}

/** In any state, at most `limit`. Insights come before their evidence, which finds them. */
export async function findErasableMemories(
  tx: Connection,
  scope: ErasureScope,
  limit: number,
): Promise<ErasableMemory[]> {
  return tx.query<ErasableMemory & Record<string, unknown>>(sql`
    select x.ref::text as ref, x.id, x.category, x.importance, x.state = 'active' as active
    from ${tx.schema}.memory x where ${hasMemory(tx, scope)} 
    order by x.kind = 'insight' desc, x.ref limit ${limit}`);
}

/** At most `limit` items of LangGraph's store, locked against writes to them and their vectors. */
export async function findErasableItems(
  tx: Connection,
  scope: ErasureScope,
  limit: number,
): Promise<string[]> {
  const rows = await tx.query<{ ref: string }>(sql`
    select x.ref::text as ref from ${tx.schema}.store_item x where ${hasScope(scope)}
    order by x.item limit ${limit} for update`);
  return rows.map(({ ref }) => ref);
}

/** Removes the words of memories from the change log. */
async function forgetNews(
  tx: Connection,
  { ownerRef, ids }: { ownerRef: string; ids: readonly string[] },
): Promise<void> {
  await tx.query(sql`
    update ${tx.schema}.change_log c set line = ${wordlessLine}
    where c.owner_ref = ${ownerRef}::bigint and c.memory_id = any (${ids}::uuid[])`);
}

/** For the audit trail. */
export interface Erasing {
  readonly actor: string;
  readonly reason?: string | undefined;
}

/** Reports deleted memories to the owner's threads. */
export async function tellOfErased(
  tx: Connection,
  input: {
    readonly scope: Scope;
    readonly ownerRef: string;
    /** All whose words leave the change log. */
    readonly ids: readonly string[];
    readonly found: readonly ErasableMemory[];
    readonly told: Erasing;
  },
): Promise<void> {
  const { scope, ownerRef, ids, found } = input;
  const { actor, reason } = input.told;
  const gone = { state: "purged", ...(reason !== undefined && { reason }) };
  await forgetNews(tx, { ownerRef, ids });
  if (found.length === 0) return;
  await recordChanges(tx, {
    ...{ ownerRef: Number(ownerRef), scope, actor, step: "forget" },
    changes: found.map(({ id, category, importance, active }) => ({
      ...{ memoryId: id, category, event: "DELETE", old: null, new: gone, similarity: null },
      news: active
        ? {
            event: "deleted",
            line: changeLine("deleted", { category, importance, text: "", seenCount: 1 }),
            importance,
          }
        : null,
    })),
  });
}

/** Removes from memories that stay the place and the words they came from. */
export async function forgetSources(tx: Connection, scope: ErasureScope): Promise<void> {
  await tx.query(sql`
    with parted as (
      update ${tx.schema}.memory x set thread_ref = null, source_seqs = '{}', evidence = null
      where x.thread_ref in (${threadsOf(tx, scope)})
      returning x.ref, x.thread_ref, x.source_seqs
    ),
    ${changedSources(tx, "parted")}
    select from parted`);
}

/** Likewise for proposals, and for the words of decisions. */
export async function forgetConsentSources(
  tx: Connection,
  { ownerRef, threadId }: { ownerRef: string; threadId: string },
): Promise<void> {
  await tx.query(sql`
    update ${tx.schema}.consent_request c
    set draft = case when draft #>> '{source,threadId}' = ${threadId} then draft - 'source' else draft end,
      evidence = case when evidence ->> 'threadId' = ${threadId} then null else evidence end
    where c.owner_ref = ${ownerRef}::bigint
      and ${threadId} in (draft #>> '{source,threadId}', evidence ->> 'threadId')`);
}

/** Likewise for the audit trail, which keeps who decided what. */
export async function forgetAuditedWords(
  tx: Connection,
  { ownerRef, threadId }: { ownerRef: string; threadId: string },
): Promise<void> {
  await tx.query(sql`
    update ${tx.schema}.history h set new = jsonb_set(h.new, '{evidence}', 'null')
    where h.owner_ref = ${ownerRef}::bigint and h.event = 'CONSENT' and h.new #>> '{evidence,threadId}' = ${threadId}`);
}

/** Subtracts memories about to go from their locked owner's counts. One statement. */
export async function discountMemories(
  tx: Connection,
  { ownerRef, memories }: { ownerRef: string; memories: readonly string[] },
): Promise<void> {
  await tx.query(sql`
    update ${tx.schema}.owner o
    set memory_count = o.memory_count - gone.count, memory_length = o.memory_length - gone.length
    from (
      select count(*) as count, coalesce(sum(t.length), 0) as length
      from ${tx.schema}.memory m
      left join lateral (
        select max(t.length) as length from ${tx.schema}.memory_term t where t.memory_ref = m.ref
      ) t on true
      where m.ref = any (${memories}::bigint[]) and m.state = 'active'
    ) gone
    where o.id = ${ownerRef}`);
}

/**
 * Deletes at most `limit` messages of locked threads with their terms, and subtracts them from the counts of their
 * threads and owner. One statement.
 */
export async function eraseMessages(
  tx: Connection,
  { threads, limit }: { threads: readonly string[]; limit: number },
): Promise<{ message: number; message_term: number }> {
  const { schema } = tx;
  const [row] = await tx.query<{ message: number; message_term: number }>(sql`
    with doomed as (
      select thread_ref, seq from ${schema}.message
      where thread_ref = any (${threads}::bigint[]) order by thread_ref, seq limit ${limit}
    ),
    term as (
      delete from ${schema}.message_term t using doomed d where t.thread_ref = d.thread_ref and t.seq = d.seq
      returning t.owner_ref, t.thread_ref, t.seq, t.lexeme, t.frequency
    ),
    gone as (
      delete from ${schema}.message m using doomed d where m.thread_ref = d.thread_ref and m.seq = d.seq
      returning m.thread_ref, m.role
    ),
    rounds as (
      update ${schema}.thread t set turns = t.turns - g.rounds
      from (select thread_ref, count(*) as rounds from gone where role = 'user' group by 1) g
      where t.id = g.thread_ref
    ),
    -- Speakers' names, which are marked with "@", are in the index but not in the counts.
    counted as (
      update ${schema}.owner o
      set message_count = o.message_count - c.count, message_length = o.message_length - c.length
      from (
        select owner_ref, count(distinct (thread_ref, seq)) as count, sum(frequency) as length
        from term where left(lexeme, 1) <> '@' group by owner_ref
      ) c
      where o.id = c.owner_ref
    )
    select (select count(*) from gone)::int as message, (select count(*) from term)::int as message_term`);
  return { message: row?.message ?? 0, message_term: row?.message_term ?? 0 };
}

/** Blocks writers of its memories until the transaction ends. False when there is none. */
export async function lockOwnerRow(tx: Connection, ownerRef: string): Promise<boolean> {
  const rows = await tx.query(
    sql`select id from ${tx.schema}.owner where id = ${ownerRef}::bigint for update`,
  );
  return rows.length > 0;
}

/** Whether the scope has neither memories nor threads, also none written meanwhile. */
export async function isErased(tx: Connection, scope: ErasureScope): Promise<boolean> {
  const [row] = await tx.query<{ left: boolean }>(sql`
    select exists (select from ${tx.schema}.memory x where ${hasMemory(tx, scope)})
      or exists (select from ${tx.schema}.thread x where ${hasScope(scope)}) as left`);
  return row?.left === false;
}

/** Deletes the locked owner of a whole scope that has nothing left. Returns how many. */
export async function eraseOwner(tx: Connection, scope: ErasureScope): Promise<number> {
  const { ownerRef, whole } = scope;
  if (!whole) return 0;
  const rows = await tx.query(sql`
    delete from ${tx.schema}.owner o
    where o.id = ${ownerRef}::bigint
      and not exists (select from ${tx.schema}.memory m where m.owner_ref = o.id)
      and not exists (select from ${tx.schema}.thread t where t.owner_ref = o.id)
      and not exists (select from ${tx.schema}.store_item x where ${hasScope(scope)})
    returning o.id`);
  return rows.length;
}
