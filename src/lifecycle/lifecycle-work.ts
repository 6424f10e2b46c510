import sql, { type Sql } from "sql-template-tag";
import { z } from "zod";
import { dayMs } from "../clock.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import { isExpired } from "../memories/write/expire-memories.js";
import type { WriteConfig } from "../memories/write/write-runtime.js";
import type { Connection } from "../postgres/connection.js";
import type { Runtime } from "../runtime.js";
import type { OwnerRef, Scope } from "../scope/scope.js";
import { type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import { spanOption } from "../text/parse-input.js";

export const lifecycleOptionsSchema = z.strictObject({
  /**
   * A memory that was neither said nor recalled for this long may be forgotten: two months without a use. Raise it when
   * users return less often. @default 5_184_000_000, 60 days
   */
  unusedAfterMs: spanOption.min(1).default(60 * dayMs),
  /**
   * Only memories below this importance, from 1 to 5, are forgotten by age. Unrated ones have 3, so that only minor
   * ones go. Raise it when minor facts crowd out others. @default 3
   */
  importanceBelow: z.number().min(1).max(6).default(3),
  /**
   * How long a removed or forgotten memory can be restored. Lower it where removed data must be gone sooner.
   * @default 2_592_000_000, 30 days
   */
  purgeAfterMs: spanOption.min(0).default(30 * dayMs),
});

export interface LifecycleConfig extends z.input<typeof lifecycleOptionsSchema> {}

/** Half a year: a thread used since has seen older changes. The audit trail keeps everything. */
const keepChangesMs = 180 * dayMs;
/** Both forgetting and purging are a matter of days. */
export const intervalMs = 3_600_000;
/** Most memories of one owner per transaction, which its writers wait for: some 50 ms. */
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

/** At most `limit` owners with work now. The order uses the indexes, or a planner may read the whole table. */
export async function findLifecycleOwners(
  db: Connection,
  input: { options: LifecycleOptions; limit: number },
): Promise<LifecycleOwner[]> {
  const { schema } = db;
  const rows = await db.query<{ ref: OwnerRef; tenant_id: string; user_id: string; app_id: string }>(sql`
    with due as (
      (select m.owner_ref from ${schema}.memory m where ${isAged(db, input.options)}
        order by m.importance, m.accessed_on limit ${input.limit * rowsPerOwner})
      union all
      (select m.owner_ref from ${schema}.memory m where ${isDueForPurge(db)}
        order by m.purge_at limit ${input.limit * rowsPerOwner})
      union all
      (select m.owner_ref from ${schema}.memory m where ${isExpired(db)}
        order by m.expires_at limit ${input.limit * rowsPerOwner})
    )
    select o.id::float8 as ref, o.tenant_id, o.user_id, o.app_id
    from (select distinct owner_ref from due limit ${input.limit}) d
    cross join lateral (select * from ${schema}.owner where id = d.owner_ref limit 1) o`);
  return rows.map((row) => ({ ref: row.ref, scope: scopeOf(row) }));
}

export async function findLifecycleOwner(db: Connection, ref: OwnerRef): Promise<LifecycleOwner | null> {
  const [row] = await db.query<ScopeRow>(
    sql`select o.tenant_id, o.user_id, o.app_id from ${db.schema}.owner o where o.id = ${ref}`,
  );
  return row ? { ref, scope: scopeOf(row) } : null;
}

/** Not used for long, not important, not pinned. Notes are bounded by number, and procedures were asked for. */
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

/** A batch to forget by age, or to purge. Locks the rows: access times are written without the owner's lock. */
export async function findDueMemories(
  tx: Connection,
  due: "aged" | "purge",
  { ownerRef, options }: { ownerRef: OwnerRef; options: LifecycleOptions },
): Promise<MemoryItem[]> {
  const rows = await tx.query<{ memory: MemoryJson }>(sql`
    select ${memoryJson(tx)} as memory
    from ${tx.schema}.memory m
    where m.owner_ref = ${ownerRef} and ${due === "aged" ? isAged(tx, options) : isDueForPurge(tx)}
    order by m.ref limit ${batchSize}
    for update of m`);
  return rows.map((row) => memoryOf(row.memory));
}

export async function findOwnersToTrim(db: Connection, limit: number): Promise<OwnerRef[]> {
  const rows = await db.query<{ ref: OwnerRef }>(sql`
    select distinct c.owner_ref::float8 as ref from ${db.schema}.change_log c where ${isOld(db)} limit ${limit}`);
  return rows.map(({ ref }) => ref);
}

/** Deletes a batch of a locked owner's old changes and records how far. Returns how many. */
export async function trimChanges(tx: Connection, ownerRef: OwnerRef): Promise<number> {
  const { schema } = tx;
  const [row] = await tx.query<{ trimmed: number }>(sql`
    with last as (
      select max(rev) as rev from (
        select c.rev from ${schema}.change_log c
        where c.owner_ref = ${ownerRef} and ${isOld(tx)} order by c.rev limit ${batchSize}
      ) oldest
    ),
    -- All up to there, so that no revision is missing between two that are kept.
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
