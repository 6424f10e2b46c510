import sql, { type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import { uuidOf } from "./scope-predicates.js";

/** Where a page of a list begins whose rows `alias` come newest first. */
export interface PageBookmark {
  readonly table: Sql;
  readonly alias: Sql;
  /** Id of the last row of the page before; undefined for the first page. */
  readonly after: string | undefined;
  /** What its rows are called in errors: "a memory". */
  readonly what: string;
}

/** Whether a row comes after the bookmark: none does where that row is not there. */
export function isAfter({ table, alias, after }: PageBookmark): Sql {
  if (after === undefined) return sql`true`;
  return sql`${alias}.ref < (select b.ref from ${table} b where b.id = ${uuidOf(after)}::uuid)`;
}

/**
 * Sees to it that an empty page is the end of its list. One after a row that is gone, or another's, is empty as well, and
 * would end the list too early.
 *
 * @param isListed of the rows `alias`, which may be listed to who asks.
 * @throws MemoryError `INVALID_INPUT`
 */
export async function requireEnd(
  db: Connection,
  { table, alias, after, what }: PageBookmark,
  isListed: Sql,
): Promise<void> {
  if (after === undefined) return;
  const [row] = await db.query(
    sql`select from ${table} ${alias} where ${alias}.id = ${uuidOf(after)}::uuid and ${isListed}`,
  );
  if (row) return;
  throw new MemoryError(
    "INVALID_INPUT",
    `\`after\` must be the id of ${what} that was listed, and that one is not there (any more): list from the beginning.`,
  );
}
