import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { MemoryItem } from "../domain/memory.js";
import type { LifecycleOptions } from "../options.js";
import { isAged, isDueForPurge } from "./find-lifecycle-work.js";
import { type MemoryJson, memoryJson, memoryOf } from "./memory-row.js";

/** Memories of a locked owner that are to be forgotten by age now, at most a batch. */
export function findAgedMemories(
  tx: Connection,
  { ownerRef, options }: { ownerRef: number; options: LifecycleOptions },
): Promise<MemoryItem[]> {
  return find(tx, ownerRef, isAged(tx, options), options.batchSize);
}

/** Memories of a locked owner that are to be purged now, at most a batch. */
export function findMemoriesToPurge(
  tx: Connection,
  { ownerRef, options }: { ownerRef: number; options: LifecycleOptions },
): Promise<MemoryItem[]> {
  return find(tx, ownerRef, isDueForPurge(tx), options.batchSize);
}

/** Locked: access times are written without the owner's lock. */
async function find(tx: Connection, ownerRef: number, which: Sql, limit: number): Promise<MemoryItem[]> {
  const rows = await tx.query<{ memory: MemoryJson }>(sql`
    select ${memoryJson(tx)} as memory
    from ${tx.schema}.memory m
    where m.owner_ref = ${ownerRef} and ${which}
    order by m.ref limit ${limit}
    for update of m`);
  return rows.map((row) => memoryOf(row.memory));
}
