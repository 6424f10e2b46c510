import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { MemoryItem, MemoryKind, MemoryLifecycle } from "../domain/memory.js";
import type { Scope } from "../domain/scope.js";
import { belongsTo } from "./belongs-to.js";
import { type MemoryJson, memoryJson, memoryOf } from "./memory-row.js";

/** Which memories to list. */
export interface MemoryListing {
  readonly scope: Scope;
  readonly kinds?: readonly MemoryKind[] | undefined;
  readonly categories?: readonly string[] | undefined;
  readonly states?: readonly MemoryLifecycle[] | undefined;
  /** Rows. @default 100 */
  readonly limit?: number | undefined;
  /** Only memories after this one in the order: the last of the page before. */
  readonly after?: string | undefined;
}

/** One memory of the scope's user or app, in whatever state; null when there is none. */
export async function findMemory(db: Connection, scope: Scope, id: string): Promise<MemoryItem | null> {
  const [row] = await db.query<{ memory: MemoryJson }>(sql`
    select ${memoryJson(db)} as memory
    from ${db.schema}.memory m
    where m.id::text = ${id} and ${belongsTo(db, scope, "m")}`);
  return row ? memoryOf(row.memory) : null;
}

/** Memories of the scope's user or app, newest first. */
export async function listMemories(db: Connection, listing: MemoryListing): Promise<MemoryItem[]> {
  const { kinds, categories, after } = listing;
  const rows = await db.query<{ memory: MemoryJson }>(sql`
    select ${memoryJson(db)} as memory
    from ${db.schema}.memory m
    where ${belongsTo(db, listing.scope, "m")}
      and m.state = any (${listing.states ?? ["active"]}::text[])
      and (${kinds ?? null}::text[] is null or m.kind = any (${kinds ?? null}))
      and (${categories ?? null}::text[] is null or m.category = any (${categories ?? null}))
      and (${after ?? null}::text is null
        or m.ref < (select b.ref from ${db.schema}.memory b where b.id::text = ${after ?? null}))
    order by m.ref desc
    limit ${listing.limit ?? 100}`);
  return rows.map((row) => memoryOf(row.memory));
}
