import sql, { join, raw, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import { uuidOf } from "./scope-predicates.js";

export interface PageBookmark {
  readonly table: Sql;
  readonly alias: Sql;
  readonly after: string | undefined;
  readonly what: string;
  /** Whether a row `alias` may be listed: others' ids are as unknown as none. */
  readonly isListed: Sql;
}

/** Whether a row follows the bookmark in a sort by `columns`; false if the bookmark's row is gone. */
export function isAfter(
  { table, alias, after, isListed }: PageBookmark,
  columns: readonly string[] = ["ref"],
  direction: "asc" | "desc" = "desc",
): Sql {
  if (after === undefined) return sql`true`;
  const sort = join(columns.map((column) => sql`${alias}.${raw(column)}`));
  return sql`(${sort}) ${raw(direction === "asc" ? ">" : "<")} (
    select ${sort} from ${table} ${alias} where ${alias}.id = ${uuidOf(after)}::uuid and ${isListed}
  )`;
}

/** For an empty page. @throws MemoryError `INVALID_INPUT` if the bookmark is no listed row */
export async function requireEnd(
  db: Connection,
  { table, alias, after, what, isListed }: PageBookmark,
): Promise<void> {
  if (after === undefined) return;
  const [row] = await db.query(
    sql`select from ${table} ${alias} where ${alias}.id = ${uuidOf(after)}::uuid and ${isListed}`,
  );
  if (row) return;
  throw lostBookmark(what);
}

export const lostBookmark = (what: string): MemoryError =>
  new MemoryError(
    "INVALID_INPUT",
    `\`after\` must be the id of ${what} that was listed, and that one is not there (any more): list from the beginning.`,
  );
