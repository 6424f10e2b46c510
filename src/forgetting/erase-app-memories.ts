import sql, { type Sql } from "sql-template-tag";
import { existingTables } from "../checkpoints/checkpoint-names.js";
import type { MemoryKind } from "../memories/item/memory.js";
import { unexpired } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { findErasureScope } from "../scope/erasure-scope.js";
import type { AppScope } from "../scope/scope.js";
import { type ErasableMemory, type Erasing, eraseFound, lockOwnerRow } from "./erase-statements.js";
import { memoryTables } from "./erasure-tables.js";

/** Which of an app's own memories to delete for good. */
export interface ErasedKinds extends Erasing {
  readonly scope: AppScope;
  /** One kind, and its category. @default all of the app's own */
  readonly only?: { readonly kind: MemoryKind; readonly category: string } | undefined;
  readonly dryRun: boolean;
}

/** Deleted for good, or would be. */
export interface Purged {
  readonly deletedCount: number;
  /** Removed, merged, superseded or in quarantine before. */
  readonly hiddenCount: number;
}

/** Per transaction, which the owner's writers wait for. */
const atOnce = 500;

/**
 * Deletes an app's own memories in any state, as `forget` does: with vectors, links, audit trail and requests for
 * consent. The app stays; an entry without words for each says who deleted it. In transactions of some hundred: an
 * interrupted run keeps what is done.
 */
export async function eraseAppMemories(db: Database, input: ErasedKinds): Promise<Purged> {
  const scope = await findErasureScope(db, input.scope);
  const { ownerRef } = scope;
  if (ownerRef === null) return { deletedCount: 0, hiddenCount: 0 };
  if (input.dryRun) return countMemories(db, ownerRef, input);
  const tables = await existingTables(db, memoryTables);
  let [deletedCount, hiddenCount] = [0, 0];
  for (let found = atOnce; found === atOnce; ) {
    const batch = await db.transaction(async (tx) => {
      if (!(await lockOwnerRow(tx, ownerRef))) return [];
      const memories = await findMemories(tx, ownerRef, input);
      if (memories.length > 0)
        await eraseFound(tx, { scope, whose: input.scope, ownerRef, found: memories, tables, told: input });
      if (memories.length < atOnce) await eraseTraces(tx, ownerRef, input);
      return memories;
    });
    const active = batch.filter((memory) => memory.active).length;
    deletedCount += active;
    hiddenCount += batch.length - active;
    found = batch.length;
  }
  return { deletedCount, hiddenCount };
}

function isMeant({ only }: ErasedKinds): Sql {
  return only ? sql`m.kind = ${only.kind}` : sql`true`;
}

const isShown = (db: Connection) => sql`m.state = 'active' and ${unexpired(db)}`;

async function countMemories(db: Connection, ownerRef: string, input: ErasedKinds): Promise<Purged> {
  const [row] = await db.query<{ active: number; hidden: number }>(sql`
    select count(*) filter (where ${isShown(db)})::int as active, count(*) filter (where not (${isShown(db)}))::int as hidden
    from ${db.schema}.memory m where m.owner_ref = ${ownerRef}::bigint and ${isMeant(input)}`);
  return { deletedCount: row?.active ?? 0, hiddenCount: row?.hidden ?? 0 };
}

async function findMemories(tx: Connection, ownerRef: string, input: ErasedKinds): Promise<readonly ErasableMemory[]> {
  return tx.query<ErasableMemory & Record<string, unknown>>(sql`
    select m.ref::text as ref, m.id, m.category, m.importance, ${isShown(tx)} as active
    from ${tx.schema}.memory m where m.owner_ref = ${ownerRef}::bigint and ${isMeant(input)}
    order by m.ref limit ${atOnce}`);
}

/**
 * Deletes other copies of their words: requests for consent, the audit trail of memories purged before, and model
 * answers. The trail goes by category, since nothing else identifies it. One statement.
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
  await tx.query(sql`
    with requests as (
      delete from ${schema}.consent_request c
      where c.owner_ref = ${ownerRef}::bigint and ${only ? sql`c.draft ->> 'kind' = ${only.kind}` : sql`true`}
    ),
    work as (
      delete from ${schema}.work x where x.owner_ref = ${ownerRef}::bigint and ${ofWork}
    ),
    -- Of notes it outlasts those that were purged by age.
    sources as (
      delete from ${schema}.note_source s where s.owner_ref = ${ownerRef}::bigint
    )
    delete from ${schema}.history h
    where h.owner_ref = ${ownerRef}::bigint and ${ofKind}
      and not exists (select from ${schema}.memory m where m.id = h.memory_id)
      -- What tells that one is gone has no words.
      and not (h.event = 'DELETE' and h.old is null)`);
}
