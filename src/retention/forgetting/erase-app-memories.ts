import sql, { type Sql } from "sql-template-tag";
import type { MemoryKind } from "../../memories/item/memory.js";
import { isActive } from "../../memories/item/memory-row.js";
import type { Connection } from "../../postgres/connection.js";
import type { Database } from "../../postgres/database.js";
import { findErasureScope } from "../../scope/erasure-scope.js";
import type { AppScope } from "../../scope/scope.js";
import {
  type AuditEntry,
  eraseMemoryRows,
  findErasable,
  lockExistingOwner,
} from "./erase-memories.js";

/** Which of an app's own memories to delete for good. */
export interface ErasedKinds extends AuditEntry {
  readonly scope: AppScope;
  /** One kind, and its category. @default all of the app's own */
  readonly only?: { readonly kind: MemoryKind; readonly category: string } | undefined;
  readonly dryRun: boolean;
}

/** Memories that were deleted for good, or would be. */
export interface Purged {
  readonly deletedCount: number;
  /** Those that were removed, merged, superseded or in quarantine. */
  readonly hiddenCount: number;
}

const none: Purged = { deletedCount: 0, hiddenCount: 0 };

/** Memories per transaction, which blocks the owner's writers. */
const memoriesPerBatch = 500;

/**
 * Deletes an app's own memories in any state, as `forget` does: with vectors, links, audit trail
 * and requests for consent. The app stays, with an audit entry without text for each memory. An
 * interrupted run keeps its progress.
 */
export async function eraseAppMemories(db: Database, input: ErasedKinds): Promise<Purged> {
  const { scope, only } = input;
  const { ownerRef } = await findErasureScope(db, scope);
  if (ownerRef === null) return none;
  const isOwn = sql`x.owner_ref = ${ownerRef}::bigint and ${only ? sql`x.kind = ${only.kind}` : sql`true`}`;
  if (input.dryRun) return countMemories(db, isOwn);
  const purged = { ...none };
  for (;;) {
    const batch = await db.transaction(async (tx) => {
      if (!(await lockExistingOwner(tx, ownerRef))) return none;
      const found = await findErasable(tx, sql`${isOwn} order by x.ref limit ${memoriesPerBatch}`);
      const refs = found.map(({ ref }) => ref);
      const counts = await countMemories(tx, sql`x.ref = any (${refs}::bigint[])`);
      if (found.length > 0) await eraseMemoryRows(tx, { ownerRef, scope, found, audit: input });
      if (found.length < memoriesPerBatch) await eraseTraces(tx, ownerRef, input);
      return counts;
    });
    purged.deletedCount += batch.deletedCount;
    purged.hiddenCount += batch.hiddenCount;
    if (batch.deletedCount + batch.hiddenCount < memoriesPerBatch) return purged;
  }
}

async function countMemories(db: Connection, which: Sql): Promise<Purged> {
  const [row] = await db.query<Purged>(sql`
    select count(*) filter (where ${isActive(db)})::int as "deletedCount",
      count(*) filter (where not (${isActive(db)}))::int as "hiddenCount"
    from ${db.schema}.memory m where m.ref in (select x.ref from ${db.schema}.memory x where ${which})`);
  return row ?? none;
}

/**
 * Deletes other copies of their text: requests for consent, the audit trail of memories purged
 * before but for an entry without words, and model answers. The trail is found by category, since nothing else identifies it.
 */
async function eraseTraces(tx: Connection, ownerRef: string, { only }: ErasedKinds): Promise<void> {
  const { schema } = tx;
  const ofKind = only
    ? sql`exists (
          select from ${schema}.history c
          where c.owner_ref = h.owner_ref and c.memory_id = h.memory_id
            and ${only.category} in (c.old ->> 'category', c.new ->> 'category')
        )`
    : sql`true`;
  const ofWork = only ? sql`x.kind = 'compaction'` : sql`true`;
  const isTrace = sql`h.owner_ref = ${ownerRef}::bigint and ${ofKind}
      and not exists (select from ${schema}.memory m where m.id = h.memory_id)`;
  const isPurge = sql`h.event = 'DELETE' and coalesce(h.new ->> 'state' = 'purged', false)`;
  await tx.query(sql`
    with requests as (
      delete from ${schema}.consent_request c
      where c.owner_ref = ${ownerRef}::bigint and ${only ? sql`c.draft ->> 'kind' = ${only.kind}` : sql`true`}
    ),
    work as (
      delete from ${schema}.work x where x.owner_ref = ${ownerRef}::bigint and ${ofWork}
    ),
    -- Notes purged by age leave their sources.
    sources as (
      delete from ${schema}.note_source s where s.owner_ref = ${ownerRef}::bigint
    ),
    wordless as (
      update ${schema}.history h set old = null, new = '{"state":"purged"}'
      where ${isTrace} and ${isPurge} and h.old is not null
    )
    delete from ${schema}.history h where ${isTrace} and not (${isPurge})`);
}
