import type { ClientBase } from "pg";
import sql from "sql-template-tag";
import { MemoryError } from "../errors.js";
import { identifier } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { errorCodeOf } from "../postgres/database-error.js";
import { setupLock } from "../postgres/migrate.js";
import { movingSchema } from "./cell-place.rule.js";
import { type CellNumber, findCell, onClient, requireNumber } from "./cell-record.js";

/**
 * Takes a cell out of use: its schema gets another name, so that no statement of any process finds it, and then whoever had
 * begun before is waited for. When this returns, nothing is committed there any more.
 *
 * Statements look names up anew when something was renamed, also those that are prepared, and again after they waited for a
 * lock. So who holds a lock on a table of it began before, and each table is free once when all of these have ended. One
 * table at a time: who waits for a lock and holds another can make a deadlock.
 *
 * @throws MemoryError `BUSY` when they do not end in `timeoutMs`: then it is out of use, and can be frozen again; `NOT_FOUND`,
 *   `WRONG_STATE`, `CELLS_DIFFER`; `PERMISSION_DENIED` for a role that does not own the schema.
 */
export async function freezeCell(
  db: Database,
  number: CellNumber,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<void> {
  const moving = movingSchema(db.schemaName);
  const deadline = performance.now() + timeoutMs;
  await onClient(db, async (client) => {
    await renamed(client, { from: db.schemaName, to: moving, number, when: "up" });
    for (const table of await tablesOf(client, moving)) {
      await waitForWriters(client, { schema: moving, table, waitMs: deadline - performance.now() });
    }
  });
}

/** Puts a cell in use that was frozen, here or where it was copied from. @throws MemoryError `NOT_FOUND`, `WRONG_STATE`, `CELLS_DIFFER` */
export async function thawCell(db: Database, number: CellNumber): Promise<void> {
  const from = movingSchema(db.schemaName);
  await onClient(db, (client) => renamed(client, { from, to: db.schemaName, number, when: "moving" }));
}

/** Renames a cell's schema where it is in the state `when`; in the other one it has been done. */
async function renamed(
  client: ClientBase,
  {
    from,
    to,
    number,
    when,
  }: {
    readonly from: string;
    readonly to: string;
    readonly number: CellNumber;
    readonly when: "up" | "moving";
  },
): Promise<void> {
  await inTransaction(client, async () => {
    await client.query(sql`select pg_advisory_xact_lock(${setupLock}::bigint)`);
    const { state, record } = await findCell(client, when === "up" ? from : to);
    if (!record)
      throw new MemoryError("NOT_FOUND", `Cell ${number.cell} is not here: there is no "${from}".`);
    requireNumber(record, number);
    const { rowCount } = await client.query(sql`select from pg_catalog.pg_namespace where nspname = ${to}`);
    if (state === when && rowCount === 0) {
      await client.query(`alter schema ${identifier(from).text} rename to ${identifier(to).text}`);
      return;
    }
    const other = await client.query(sql`select from pg_catalog.pg_namespace where nspname = ${from}`);
    if (other.rowCount === 0) return;
    throw new MemoryError(
      "WRONG_STATE",
      `Both "${from}" and "${to}" are here: look which of them is the cell, and drop or rename the other.`,
    );
  });
}

async function tablesOf(client: ClientBase, schemaName: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    sql`select c.relname as name from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schemaName} and c.relkind in ('r', 'p') order by c.oid`,
  );
  return rows.map(({ name }) => name);
}

/** Waits until nobody writes to a table who began before. */
async function waitForWriters(
  client: ClientBase,
  { schema, table, waitMs }: { readonly schema: string; readonly table: string; readonly waitMs: number },
): Promise<void> {
  const timeout = `${Math.max(1, Math.round(waitMs))}ms`;
  try {
    await inTransaction(client, async () => {
      await client.query(
        sql`select set_config('lock_timeout', ${timeout}, true), set_config('statement_timeout', '0', true)`,
      );
      await client.query(`lock table ${identifier(schema).text}.${identifier(table).text} in share mode`);
    });
  } catch (cause) {
    if (errorCodeOf(cause) !== "55P03") throw cause;
    throw new MemoryError(
      "BUSY",
      `Somebody still writes to "${table}" of the cell, who began before it was frozen. It is out of use; freeze it again ` +
        "before you copy it, or thaw it.",
      { cause },
    );
  }
}

async function inTransaction(client: ClientBase, work: () => Promise<void>): Promise<void> {
  await client.query("begin");
  try {
    await work();
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}
