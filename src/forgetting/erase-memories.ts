import sql from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { ErasureScope } from "../scope/erasure-scope.js";
import type { Scope } from "../scope/scope.js";
import { discountMemories, type ErasableMemory, type Erasing, tellOfErased } from "./erase-statements.js";
import {
  type ErasureTable,
  eraseRows,
  memoryRecordTables,
  noKeys,
  type RowCounts,
} from "./erasure-tables.js";

/** Name in the audit trail. */
export const forgetting: Erasing = { actor: "forget" };

/** Memories of a locked owner to delete. */
export interface FoundMemories {
  readonly scope: ErasureScope;
  readonly whose: Scope;
  readonly ownerRef: string;
  readonly found: readonly ErasableMemory[];
  /** With those purged before, which left only records. @default those found */
  readonly ids?: readonly string[];
  /** The existing `memoryTables`. */
  readonly tables: readonly ErasureTable[];
  /** Set where the owner stays: records of the memories go now, and an entry without words says so. */
  readonly told: Erasing | null;
}

const everyRow = 2 ** 31 - 1;

/** In any state, with all dependent rows. */
export async function eraseFound(tx: Connection, input: FoundMemories): Promise<RowCounts> {
  const { scope, whose, ownerRef, found, tables, told } = input;
  const { ids = found.map(({ id }) => id) } = input;
  const refs = found.map(({ ref }) => ref);
  const keys = { ...noKeys, memories: sql`${refs}::bigint[]`, memoryIds: sql`${ids}::uuid[]` };
  const all = { keys, scope: { ...scope, ownerRef }, limit: everyRow };
  const records = told ? await eraseRows(tx, memoryRecordTables, all) : {};
  if (told) await tellOfErased(tx, { scope: whose, ownerRef, ids, found, told });
  await discountMemories(tx, { ownerRef, memories: refs });
  return { ...records, ...(await eraseRows(tx, tables, all)) };
}
