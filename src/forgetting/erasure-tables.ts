import sql, { join, raw, type Sql } from "sql-template-tag";
import { checkpointTableNames } from "../checkpoints/checkpoint-names.js";
import type { Connection } from "../postgres/connection.js";
import { type ErasureScope, hasOwner, hasScope } from "../scope/erasure-scope.js";

/**
 * Keys of the rows to erase with their dependents, as array expressions: of a scope, or of one
 * batch.
 */
export interface ErasureKeys {
  /** `memory.ref`, bigint[]. */
  readonly memories: Sql;
  /** Their `memory.id`, uuid[]. */
  readonly memoryIds: Sql;
  /** `thread.id`, bigint[]. */
  readonly threads: Sql;
  /** Ids of threads in LangGraph's checkpoints, text[]. */
  readonly checkpointThreads: Sql;
  /** `memory.id` of notes that apps made of the threads, uuid[]. */
  readonly noteIds: Sql;
  /** `store_item.ref`, bigint[]. */
  readonly items: Sql;
}

const noRefs = sql`'{}'::bigint[]`;
const noIds = sql`'{}'::uuid[]`;

export const noKeys: ErasureKeys = {
  memories: noRefs,
  memoryIds: noIds,
  threads: noRefs,
  noteIds: noIds,
  items: noRefs,
  checkpointThreads: sql`'{}'::text[]`,
};

/** A table, and the condition on its rows `x` to erase. */
export interface ErasureTable {
  readonly table: string;
  readonly rows: (keys: ErasureKeys, scope: ErasureScope) => Sql;
}

const inTables = (tables: readonly string[], rows: ErasureTable["rows"]) =>
  tables.map((table) => ({ table, rows }));

/** Records of memories. The change log stays without text, since each revision needs its row. */
export const memoryRecordTables: readonly ErasureTable[] = inTables(
  ["history"],
  ({ memoryIds }, { ownerRef }) =>
    sql`x.owner_ref = ${ownerRef}::bigint and x.memory_id = any (${memoryIds})`,
);

/** Memories after their dependents. */
export const memoryTables: readonly ErasureTable[] = [
  ...inTables(
    ["memory_embedding", "memory_term", "memory_source"],
    ({ memories }) => sql`x.memory_ref = any (${memories})`,
  ),
  {
    table: "relation",
    rows: ({ memories }) => sql`(x.from_ref = any (${memories}) or x.to_ref = any (${memories}))`,
  },
  { table: "memory", rows: ({ memories }) => sql`x.ref = any (${memories})` },
];

export const checkpointTables: readonly ErasureTable[] = inTables(
  checkpointTableNames,
  ({ checkpointThreads }) => sql`x.thread_id = any (${checkpointThreads})`,
);

const isOfThread: ErasureTable["rows"] = ({ threads }) => sql`x.thread_ref = any (${threads})`;

export const messageTables: readonly ErasureTable[] = inTables(
  ["message_term", "message"],
  isOfThread,
);

export const threadTables: readonly ErasureTable[] = inTables(
  ["summary", "shown", "work"],
  isOfThread,
);

/** Links from threads to their notes, deleted with either. */
export const noteSourceTables: readonly ErasureTable[] = inTables(
  ["note_source"],
  (keys, scope) => {
    const isOf = isOfThread(keys, scope);
    return scope.thread ? isOf : sql`(${isOf} or x.owner_ref = ${scope.ownerRef}::bigint)`;
  },
);

/** The audit trail of notes that apps made of the threads. */
export const noteRecordTables: readonly ErasureTable[] = inTables(
  ["history"],
  ({ noteIds }, { ownerRef }) =>
    sql`x.memory_id = any (${noteIds}) and x.owner_ref is distinct from ${ownerRef}::bigint`,
);

export const storeTables: readonly ErasureTable[] = [
  { table: "store_embedding", rows: ({ items }) => sql`x.item_ref = any (${items})` },
  { table: "store_item", rows: ({ items }) => sql`x.ref = any (${items})` },
];

export const eventTables: readonly ErasureTable[] = inTables(["event", "usage"], (_, scope) =>
  hasScope(scope),
);

export const recordTables: readonly ErasureTable[] = [
  ...inTables(["history", "change_log", "consent_request"], (_, scope) => hasOwner(scope)),
  // All of the owner's rows, even if the scope is a part: their prompts quoted every part.
  ...inTables(
    ["compared_pair", "work"],
    (_, { ownerRef }) => sql`x.owner_ref = ${ownerRef}::bigint`,
  ),
  ...noteSourceTables,
  ...eventTables,
];

export type RowCounts = Record<string, number>;

/** Deletes at most `limit` rows of each table, in order, one statement each. */
export async function eraseRows(
  tx: Connection,
  tables: readonly ErasureTable[],
  { keys, scope, limit }: { keys: ErasureKeys; scope: ErasureScope; limit: number },
): Promise<RowCounts> {
  const counts: RowCounts = {};
  for (const { table, rows } of tables) {
    const name = sql`${tx.schema}.${raw(table)}`;
    const [row] = await tx.query<{ erased: number }>(sql`
      with erased as (
        delete from ${name} d
        where d.ctid = any (array(select x.ctid from ${name} x where ${rows(keys, scope)} limit ${limit}))
        returning 1
      )
      select count(*)::int as erased from erased`);
    counts[table] = (counts[table] ?? 0) + (row?.erased ?? 0);
  }
  return counts;
}

export async function countRows(
  db: Connection,
  tables: readonly ErasureTable[],
  { keys, scope }: { keys: ErasureKeys; scope: ErasureScope },
): Promise<RowCounts> {
  const counts = tables.map(
    ({ table, rows }): Sql =>
      sql`select ${table}::text as name,
        (select count(*) from ${db.schema}.${raw(table)} x where ${rows(keys, scope)})::int as count`,
  );
  const found = await db.query<{ name: string; count: number }>(join(counts, " union all "));
  const rows: RowCounts = {};
  for (const { name, count } of found) rows[name] = (rows[name] ?? 0) + count;
  return rows;
}
