import sql, { join, type Sql } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { belongsTo, scopeColumns, seenOwners, uuidOf } from "../../scope/scope-predicates.js";
import type { MemoryItem, MemoryKind, MemoryLifecycle } from "./memory.js";
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
    where m.id = ${uuidOf(id)}::uuid and ${belongsTo(db, scope, "m")}`);
  return row ? memoryOf(row.memory) : null;
}

/** Memories of the scope's user or app, newest first. */
export async function listMemories(db: Connection, listing: MemoryListing): Promise<MemoryItem[]> {
  const { schema } = db;
  const { scope, limit = 100 } = listing;
  const rows = await db.query<{ memory: MemoryJson }>(sql`
    select ${memoryJson(db)} as memory
    from (${seenOwners(db, scope)}) o cross join lateral (
      -- For each owner in the order of their index, so that no more are read than are listed.
      select * from ${schema}.memory m where m.owner_ref = o.id and ${listed(db, listing)}
      order by m.ref desc limit ${limit}
    ) m
    order by m.ref desc limit ${limit}`);
  return rows.map((row) => memoryOf(row.memory));
}

/** Written out, and not compared with a value: only so does a plan for all values use the index of some. */
const inState: Readonly<Record<MemoryLifecycle, Sql>> = {
  active: sql`m.state = 'active'`,
  superseded: sql`m.state = 'superseded'`,
  merged: sql`m.state = 'merged'`,
  soft_deleted: sql`m.state = 'soft_deleted'`,
  quarantined: sql`m.state = 'quarantined'`,
};

function listed({ schema }: Connection, listing: MemoryListing): Sql {
  const { scope, kinds, categories, states = ["active"], after } = listing;
  const { appId } = scopeColumns(scope);
  return join(
    [
      sql`(${join([sql`false`, ...states.map((state) => inState[state])], " or ")})`,
      ...(appId === "" ? [] : [sql`m.app_id in ('', ${appId})`]),
      ...(kinds === undefined ? [] : [sql`m.kind = any (${kinds}::text[])`]),
      ...(categories === undefined ? [] : [sql`m.category = any (${categories}::text[])`]),
      ...(after === undefined
        ? []
        : [sql`m.ref < (select b.ref from ${schema}.memory b where b.id = ${uuidOf(after)}::uuid)`]),
    ],
    " and ",
  );
}
