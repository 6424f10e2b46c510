import sql, { join, raw, type Sql } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { belongsTo, scopeColumns, seenOwners, uuidOf } from "../../scope/scope-predicates.js";
import { type MemoryItem, type MemoryKind, type MemoryLifecycle, memoryStates } from "./memory.js";
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

function listed({ schema }: Connection, listing: MemoryListing): Sql {
  const { scope, kinds, categories, states = ["active"], after } = listing;
  const { appId } = scopeColumns(scope);
  // Written out, and not compared with a value: only then does a plan for all values use an index for one state.
  const inStates = memoryStates
    .filter((state) => states.includes(state))
    .map((state) => raw(`m.state = '${state}'`));
  return join(
    [
      sql`(${join([sql`false`, ...inStates], " or ")})`,
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
