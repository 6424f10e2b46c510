import sql, { type Sql } from "sql-template-tag";
import { applyChanges } from "../../memories/apply/apply-changes.js";
import { changeOf, wordlessLine } from "../../memories/audit/memory-change.js";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { eraseTold } from "../../transcript/told-words.js";
import { eraseRows, memoryRecordTables, memoryTables, type RowCounts } from "./erasure-tables.js";

interface ErasableMemory {
  readonly ref: string;
  readonly id: string;
  readonly category: string;
  readonly importance: number;
  readonly active: boolean;
}

/** Memories `x` in any state. @param which a condition, with an order and a limit */
export function findErasable(tx: Connection, which: Sql): Promise<ErasableMemory[]> {
  return tx.query<ErasableMemory>(sql`
    select x.ref::text as ref, x.id, x.category, x.importance, x.state = 'active' as active
    from ${tx.schema}.memory x where ${which}`);
}

/**
 * Blocks writers of the owner's memories until the transaction ends. False without such an owner.
 */
export async function lockExistingOwner(tx: Connection, ownerRef: string): Promise<boolean> {
  const rows = await tx.query(
    sql`select id from ${tx.schema}.owner where id = ${ownerRef}::bigint for update`,
  );
  return rows.length > 0;
}

export interface AuditEntry {
  readonly actor: string;
  readonly reason?: string | undefined;
}

export const forgetting: AuditEntry = { actor: "forget" };

interface FoundMemories {
  readonly ownerRef: string;
  readonly scope: Scope;
  readonly found: readonly ErasableMemory[];
  /** Includes memories purged before, which left only records. @default the ids of `found` */
  readonly ids?: readonly string[];
  /**
   * Null when a scope is forgotten: `eraseRecordBatch` deletes their records then. Otherwise these
   * are deleted now, with an audit entry without text.
   */
  readonly audit: AuditEntry | null;
}

/** Deletes memories of a locked owner with their dependents. */
export async function eraseMemoryRows(
  tx: Connection,
  { ownerRef, scope, found, ids = found.map(({ id }) => id), audit }: FoundMemories,
): Promise<RowCounts> {
  const refs = found.map(({ ref }) => ref);
  const counts: RowCounts = {};
  if (audit) {
    const knownSince = await findKnownSince(tx, ownerRef, ids);
    const records = memoryRecordTables(ownerRef, sql`${ids}::uuid[]`);
    Object.assign(counts, await eraseRows(tx, records));
    await tx.query(sql`
      update ${tx.schema}.change_log c set line = ${wordlessLine}
      where c.owner_ref = ${ownerRef}::bigint and c.memory_id = any (${ids}::uuid[])`);
    await eraseTold(tx, { ownerRef, ids });
    // Memories that they were merged into, or took the place of, have their words in a record.
    await tx.query(sql`
      update ${tx.schema}.history h set new = h.new - '{text,reason}'::text[]
      where h.owner_ref = ${ownerRef}::bigint and (h.new ->> 'merged' = any (${ids}::text[]) or h.new ->> 'supersededBy' = any (${ids}::text[]))`);
    const { actor, reason } = audit;
    const present = new Map(found.map((memory) => [memory.id, memory]));
    // Those that were purged before have records only.
    const changes = [...new Set([...present.keys(), ...knownSince.keys()])].map((id) => {
      const { active = false, category = "", importance = 1 } = present.get(id) ?? {};
      const gone = { state: "purged", since: knownSince.get(id), reason };
      const memory = { id, category, importance, text: "" };
      return changeOf(memory, "DELETE", { new: gone, as: active ? "deleted" : null });
    });
    const by = { ownerRef: Number(ownerRef), scope, actor, step: "forget" } as const;
    await applyChanges(tx, by, { changes, ended: ids });
  }
  await subtractMemories(tx, ownerRef, refs);
  return { ...counts, ...(await eraseRows(tx, memoryTables(sql`${refs}::bigint[]`))) };
}

/** From when on each was known, for questions about the past: they say how many are missing. */
async function findKnownSince(
  tx: Connection,
  ownerRef: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.query<{ id: string; since: string }>(sql`
    select k.id, to_json(min(k.since)) #>> '{}' as since from (
      select h.memory_id as id, h.created_at as since from ${tx.schema}.history h
      where h.owner_ref = ${ownerRef}::bigint and h.memory_id = any (${ids}::uuid[])
      union all
      select m.id, m.created_at from ${tx.schema}.memory m
      where m.owner_ref = ${ownerRef}::bigint and m.id = any (${ids}::uuid[])
    ) k
    group by k.id`);
  return new Map(rows.map(({ id, since }) => [id, since]));
}

async function subtractMemories(
  tx: Connection,
  ownerRef: string,
  memories: readonly string[],
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
