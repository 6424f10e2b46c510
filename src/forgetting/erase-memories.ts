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

/** How the audit trail names what `forget` deletes. */
export const forgetting: Erasing = { actor: "forget" };

/** Memories of a locked owner that are to go. */
export interface FoundMemories {
  readonly scope: ErasureScope;
  /** Whose they are. */
  readonly whose: Scope;
  readonly ownerRef: string;
  readonly found: readonly ErasableMemory[];
  /** Also those that were purged before, of which only what was written down is left. @default those that were found */
  readonly ids?: readonly string[];
  /** Those of `memoryTables` that there are. */
  readonly tables: readonly ErasureTable[];
  /** Where the owner stays: what was written down of the memories goes now, and a wordless entry tells that they are gone. */
  readonly told: Erasing | null;
}

const everyRow = 2 ** 31 - 1;

/** Deletes memories in whatever state, with all that hangs on them. */
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
