import sql, { raw, type Sql } from "sql-template-tag";
import { applyChanges } from "../../memories/apply/apply-changes.js";
import { type ChangeSet, hideMemories } from "../../memories/apply/change-set.js";
import { changeOf, settledDoubt } from "../../memories/audit/memory-change.js";
import { doubtsForMs } from "../../memories/item/doubt.rule.js";
import type { MemoryItem } from "../../memories/item/memory.js";
import { versionOf } from "../../memories/item/memory-fields.js";
import { findOwned } from "../../memories/item/memory-row.js";
import {
  lifecycleActor as actor,
  expireMemories,
  isExpired,
} from "../../memories/write/hide-memories.js";
import type { WriteConfig } from "../../memories/write/write-types.js";
import type { Connection } from "../../postgres/connection.js";
import type { Database } from "../../postgres/database.js";
import type { Runtime } from "../../runtime.js";
import type { OwnerRef } from "../../scope/scope.js";
import { type ScopeRow, scopeOf } from "../../scope/scope-predicates.js";
import { firstOf, type Work } from "../../work/define-work.js";
import { lockExistingOwner } from "../forgetting/erase-memories.js";
import type { LifecycleOptions } from "./lifecycle-options.js";

type LifecycleRuntime = Pick<
  Runtime<WriteConfig & { readonly lifecycle: LifecycleOptions }>,
  "db" | "config"
>;

const ageingEveryMs = 3_600_000;
/** Rows of one owner per transaction, which blocks its writers for some 50 ms. */
export const batchRows = 500;

/**
 * Hides expired and long unused memories, ends old doubts, and purges memories hidden long ago. Purging keeps the
 * audit trail; `forget` erases that too.
 */
export function defineLifecycle({ db, config }: LifecycleRuntime): Work {
  const options = config.lifecycle;
  return {
    kind: "lifecycle",
    everyMs: ageingEveryMs,
    due: (limit) => findOwners(db, options, limit),
    run: firstOf(async (ownerRef) => {
      const [owner] = await db.query<ScopeRow>(
        sql`select o.tenant_id, o.user_id, o.app_id from ${db.schema}.owner o where o.id = ${ownerRef}`,
      );
      if (!owner) return;
      const scope = scopeOf(owner);
      const by = { ownerRef, scope, actor, step: "lifecycle" } as const;
      // Access times are written without the owner's lock, so the rows are locked too.
      const inBatch = sql`limit ${batchRows} for update of m`;
      const changeAll = (which: Sql, changesOf: (found: MemoryItem[]) => Partial<ChangeSet>) =>
        repeatBatches(db, ownerRef, async (tx) => {
          const found = await findOwned(tx, ownerRef, which, inBatch);
          await applyChanges(tx, by, changesOf(found));
          return found.length;
        });

      // Hide what has expired.
      const { purgeAfterMs } = options;
      await repeatBatches(db, ownerRef, (tx) =>
        expireMemories(tx, by, { purgeAfterMs, limit: batchRows }),
      );

      // Hide what was not used for long.
      const unused = { purgeAfterMs, mayHold: true };
      await changeAll(isAged(db, options), (aged) =>
        hideMemories(aged, unused, "TTL", ({ lastAccessedAt }) => ({ lastAccessedAt })),
      );

      // Let doubts lapse that nobody settled.
      await changeAll(isLongDoubted(db), (old) => ({
        changes: old.map((memory) => settledDoubt(memory, { lapsed: true }, null)),
        settledDoubts: old.map(({ id }) => id),
      }));

      // Purge what was hidden long ago.
      await changeAll(isDueForPurge(db), (due) => ({
        changes: due.map((memory) =>
          changeOf(memory, "DELETE", {
            old: { ...versionOf(memory), state: memory.state },
            new: { state: "purged" },
            as: "deleted",
          }),
        ),
        purged: due.map(({ id }) => id),
      }));
    }),
  };
}

/**
 * Repeats `batch`, which takes at most `batchRows`, under the owner's lock until it returns fewer.
 */
export async function repeatBatches(
  db: Database,
  ownerRef: OwnerRef,
  batch: (tx: Connection) => Promise<number>,
): Promise<void> {
  for (;;) {
    const done = await db.transaction(async (tx) => {
      // `lockOwner` would recreate an owner that was forgotten meanwhile.
      return (await lockExistingOwner(tx, String(ownerRef))) ? batch(tx) : 0;
    });
    if (done < batchRows) return;
  }
}

/** Rows read per owner: the memories of one owner tend to age together. */
const rowsPerOwner = 50;

/**
 * At most `limit` owners with due work. The order uses the indexes, or a planner may read the whole
 * table.
 */
async function findOwners(
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
      union all ${ownersWhere(isLongDoubted(db), "m.owner_ref, m.doubted_at")}
    ) due limit ${limit}`);
  return rows.map(({ ref }) => ref);
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

const isLongDoubted = (db: Connection): Sql =>
  sql`m.doubted_at <= ${db.now()} - ${doubtsForMs}::float8 * interval '1 millisecond'`;

const isDueForPurge = (db: Connection): Sql =>
  sql`m.state = 'soft_deleted' and m.purge_at <= ${db.now()}`;
