import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { MemoryItem, MemoryKind, MemoryLifecycle } from "../domain/memory.js";
import type { Scope } from "../domain/scope.js";
import { type MemoryJson, memoryJson, memoryOf } from "./memory-row.js";
import { scopeColumns } from "./scope-columns.js";

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
    select ${memoryJson} as memory
    from ${db.schema}.memory m left join ${db.schema}.thread t on t.id = m.thread_ref
    where m.id::text = ${id} and ${belongsTo(db, scope)}`);
  return row ? memoryOf(row.memory) : null;
}

/** Memories of the scope's user or app, newest first. */
export async function listMemories(db: Connection, listing: MemoryListing): Promise<MemoryItem[]> {
  const { kinds, categories, after } = listing;
  const rows = await db.query<{ memory: MemoryJson }>(sql`
    select ${memoryJson} as memory
    from ${db.schema}.memory m left join ${db.schema}.thread t on t.id = m.thread_ref
    where ${belongsTo(db, listing.scope)}
      and m.state = any (${listing.states ?? ["active"]}::text[])
      and (${kinds ?? null}::text[] is null or m.kind = any (${kinds ?? null}))
      and (${categories ?? null}::text[] is null or m.category = any (${categories ?? null}))
      and (${after ?? null}::text is null
        or m.ref < (select b.ref from ${db.schema}.memory b where b.id::text = ${after ?? null}))
    order by m.ref desc
    limit ${listing.limit ?? 100}`);
  return rows.map((row) => memoryOf(row.memory));
}

/**
 * Whether the memory `m` can be seen from `scope`: it is the user's own, or of the user within the app, or the
 * app's. Without an app, all of the user's.
 */
function belongsTo(db: Connection, scope: Scope): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  return sql`m.owner_ref in (
      select o.id from ${db.schema}.owner o
      where md5(o.tenant_id) = md5(${tenantId}) and o.tenant_id = ${tenantId} and (
        (${userId} <> '' and md5(o.user_id) = md5(${userId}) and o.user_id = ${userId})
        or (${appId} <> '' and o.user_id = '' and md5(o.app_id) = md5(${appId}) and o.app_id = ${appId})
      )
    ) and (${appId} = '' or m.app_id in ('', ${appId}))`;
}
