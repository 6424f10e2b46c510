import sql, { type Sql } from "sql-template-tag";
import { existingTables } from "../checkpoints/checkpoint-names.js";
import type { MemoryKind } from "../memories/item/memory.js";
import { unexpired } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { findErasureScope } from "../scope/erasure-scope.js";
import type { AppScope } from "../scope/scope.js";
import { eraseFound } from "./erase-memories.js";
import { type ErasableMemory, type Erasing, lockOwnerRow } from "./erase-statements.js";
import { memoryTables } from "./erasure-tables.js";

/** Which memories of an app's own to delete for good. */
export interface ErasedKinds extends Erasing {
  readonly scope: AppScope;
  /** A kind, and the category that its memories are in. @default all that the app has of its own */
  readonly only?: { readonly kind: MemoryKind; readonly category: string } | undefined;
  /** Only count them. */
  readonly dryRun: boolean;
}

/** How many memories were deleted for good, or would be. */
export interface Purged {
  /** Those that were in use. */
  readonly deletedCount: number;
  /** Those that were hidden before: removed, merged or replaced by others, or in quarantine. */
  readonly hiddenCount: number;
}

/** Memories deleted in one transaction, which the owner's writers wait for. */
const atOnce = 500;

/**
 * Deletes memories that are an app's own, in whatever state, as `forget` does: with vectors, links, audit trail and what
 * waits for consent. The app stays; a wordless entry of each tells who deleted it.
 *
 * In transactions of some hundred memories: what is done stays done when it is interrupted.
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

async function findMemories(
  tx: Connection,
  ownerRef: string,
  input: ErasedKinds,
): Promise<readonly ErasableMemory[]> {
  return tx.query<ErasableMemory & Record<string, unknown>>(sql`
    select m.ref::text as ref, m.id, m.category, m.importance, ${isShown(tx)} as active
    from ${tx.schema}.memory m where m.owner_ref = ${ownerRef}::bigint and ${isMeant(input)}
    order by m.ref limit ${atOnce}`);
}

/**
 * What holds their words without them: requests for consent, the trail of those that were purged before, and what models
 * said of them. Of the latter it is told by its category, since nothing else of it is left. One statement.
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
