import sql, { raw, type Sql } from "sql-template-tag";
import { z } from "zod";
import { dayMs } from "../clock.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { findOwned } from "../memories/item/memory-row.js";
import { isExpired } from "../memories/write/expire-memories.js";
import type { WriteConfig } from "../memories/write/write-types.js";
import type { Connection } from "../postgres/connection.js";
import type { Runtime } from "../runtime.js";
import type { OwnerRef, Scope } from "../scope/scope.js";
import { type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import { spanOption } from "../text/parse-input.js";

export const lifecycleOptionsSchema = z.strictObject({
  /**
   * A memory unused for this long may be forgotten. Raise it for rare users.
   * @default 5_184_000_000, 60 days
   */
  unusedAfterMs: spanOption.min(1).default(60 * dayMs),
  /**
   * Only memories below this importance (1 to 5; unrated ones have 3) are forgotten by age. Raise
   * it when minor facts crowd out others.
   * @default 3
   */
  importanceBelow: z.number().min(1).max(6).default(3),
  /**
   * How long a removed memory can be restored. Lower it to delete data sooner.
   * @default 2_592_000_000, 30 days
   */
  purgeAfterMs: spanOption.min(0).default(30 * dayMs),
});

/** Half a year: threads in use have seen older changes. The audit trail keeps everything. */
const keepChangesMs = 180 * dayMs;
export const intervalMs = 3_600_000;
/** Memories of one owner per transaction, which blocks its writers for some 50 ms. */
export const batchSize = 500;

export type LifecycleOptions = z.output<typeof lifecycleOptionsSchema>;

export type LifecycleRuntime = Pick<
  Runtime<WriteConfig & { readonly lifecycle: LifecycleOptions }>,
  "db" | "config" | "embedder"
>;

export interface LifecycleOwner {
  readonly ref: OwnerRef;
  readonly scope: Scope;
}

/** Rows read per owner: the memories of one owner tend to age together. */
const rowsPerOwner = 50;

/**
 * At most `limit` owners with due work. The order uses the indexes, or a planner may read the whole
 * table.
 */
export async function findLifecycleOwners(
  db: Connection,
  options: LifecycleOptions,
  limit: number,
): Promise<OwnerRef[]> {
  const ownersWhere = (condition: Sql, order: string) => sql`(
    select m.owner_ref from ${db.schema}.memory m where ${condition} order by ${raw(order)} limit ${limit * rowsPerOwner}
  )`;
  const rows = await db.query<{ ref: OwnerRef }>(sql`
    select distinct owner_ref::float8 as ref from (
      ${ownersWhere(isAged(db, options), "m.importance, m.accessed_on")}
      union all ${ownersWhere(isDueForPurge(db), "m.purge_at")}
      union all ${ownersWhere(isExpired(db), "m.expires_at")}
    ) due limit ${limit}`);
  return rows.map(({ ref }) => ref);
}

export async function findLifecycleOwner(
  db: Connection,
  ref: OwnerRef,
): Promise<LifecycleOwner | null> {
  const [row] = await db.query<ScopeRow>(
    sql`select o.tenant_id, o.user_id, o.app_id from ${db.schema}.owner o where o.id = ${ref}`,
  );
  return row ? { ref, scope: scopeOf(row) } : null;
}

/**
 * Long unused, not important, not pinned. Compaction bounds notes, and users asked for procedures.
 */
function isAged(db: Connection, { unusedAfterMs, importanceBelow }: LifecycleOptions): Sql {
  const since = sql`(${db.now()} - ${unusedAfterMs}::float8 * interval '1 millisecond')`;
  // The index has the day; the time decides.
  return sql`m.state = 'active' and not m.pinned and m.kind in ('fact', 'insight', 'episode')
    and m.importance < ${importanceBelow}::real
    and m.accessed_on <= (${since} at time zone 'UTC')::date and m.last_accessed_at < ${since}`;
}

function isDueForPurge(db: Connection): Sql {
  return sql`m.state = 'soft_deleted' and m.purge_at <= ${db.now()}`;
}

/**
 * A batch to forget or purge. Locks the rows, since access times are written without the owner's
 * lock.
 */
export async function findDueMemories(
  tx: Connection,
  due: "aged" | "purge",
  { ownerRef, options }: { ownerRef: OwnerRef; options: LifecycleOptions },
): Promise<MemoryItem[]> {
  const isDue = due === "aged" ? isAged(tx, options) : isDueForPurge(tx);
  return findOwned(tx, ownerRef, isDue, sql`limit ${batchSize} for update of m`);
}

export async function findOwnersToTrim(db: Connection, limit: number): Promise<OwnerRef[]> {
  const rows = await db.query<{ ref: OwnerRef }>(sql`
    select distinct c.owner_ref::float8 as ref from ${db.schema}.change_log c where ${isOld(db)} limit ${limit}`);
  return rows.map(({ ref }) => ref);
}

/**
 * Deletes a batch of a locked owner's old changes, and records the last revision. Returns how many.
 */
export async function trimChanges(tx: Connection, ownerRef: OwnerRef): Promise<number> {
  const { schema } = tx;
  const [row] = await tx.query<{ trimmed: number }>(sql`
    with last as (
      select max(rev) as rev from (
        select c.rev from ${schema}.change_log c
        where c.owner_ref = ${ownerRef} and ${isOld(tx)} order by c.rev limit ${batchSize}
      ) oldest
    ),
    -- Without gaps: every change up to that revision.
    gone as (
      delete from ${schema}.change_log c using last
      where c.owner_ref = ${ownerRef} and c.rev <= last.rev
      returning 1
    ),
    noted as (
      update ${schema}.owner o set changes_trimmed_to = greatest(o.changes_trimmed_to, last.rev)
      from last where o.id = ${ownerRef} and last.rev is not null
    )
    select count(*)::int as trimmed from gone`);
  return row?.trimmed ?? 0;
}

function isOld(db: Connection): Sql {
  return sql`c.created_at < ${db.now()} - ${keepChangesMs}::float8 * interval '1 millisecond'`;
}
