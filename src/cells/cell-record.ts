import type { ClientBase } from "pg";
import sql from "sql-template-tag";
import { MemoryError } from "../errors.js";
import { identifier } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { toMemoryError } from "../postgres/database-error.js";
import { cellSchema, movingSchema } from "./cell-place.rule.js";

/** Which cell a schema is, and of how many. */
export interface CellNumber {
  readonly cell: number;
  readonly cells: number;
}

/** What a schema says of itself. */
interface CellRecord extends CellNumber {
  /** Whether all cells were made: then none that is missing is made anew. */
  readonly complete: boolean;
}

/** How a cell stands in its database. */
export interface CellState {
  /** "up": in use; "moving": frozen; "missing": not there. */
  readonly state: "up" | "moving" | "missing";
  /** What its schema, in use or frozen, says; null where there is none. */
  readonly record: CellRecord | null;
}

/** How the cell in `db` stands. @throws MemoryError `DATABASE_UNAVAILABLE`, `PERMISSION_DENIED` */
export async function readCell(db: Database): Promise<CellState> {
  const read = () => onClient(db, (client) => findCell(client, db.schemaName));
  // Between two statements it may get its other name.
  return read().catch((error: unknown) => {
    if (MemoryError.is(error, "SETUP_REQUIRED")) return read();
    throw error;
  });
}

/** Something that `work` does with a client of `db`. @throws MemoryError */
export async function onClient<Result>(
  db: Database,
  work: (client: ClientBase) => Promise<Result>,
): Promise<Result> {
  try {
    return await db.withClient(work);
  } catch (error) {
    throw toMemoryError(error, db.schemaName);
  }
}

/** How the cell `schemaName` stands. */
export async function findCell(client: ClientBase, schemaName: string): Promise<CellState> {
  const names = [schemaName, movingSchema(schemaName)];
  const { rows } = await client.query<{ name: string }>(
    sql`select n.nspname as name from pg_catalog.pg_namespace n
      join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = 'cell' and c.relkind = 'r'
      where n.nspname = any (${names})`,
  );
  const state = rows.some(({ name }) => name === schemaName) ? "up" : rows.length > 0 ? "moving" : "missing";
  if (state === "missing") return { state, record: null };
  const schema = identifier(state === "up" ? schemaName : movingSchema(schemaName));
  const found = await client.query<CellRecord>(sql`select cell, cells, complete from ${schema}.cell`);
  return { state, record: found.rows[0] ?? null };
}

/**
 * Notes in the schema that was just set up which cell it is, within its transaction; and sees to it that what is spread by
 * another number of cells is not set up beside what is there.
 *
 * @param schema that of the memory, of which `schemaName` is a cell.
 * @throws MemoryError `CELLS_DIFFER`, `CELL_MOVING`
 */
export async function setUpCell(
  client: ClientBase,
  { schema, schemaName, cell, cells }: CellNumber & { readonly schema: string; readonly schemaName: string },
): Promise<void> {
  await requireSameSpread(client, { schema, cells });
  if (cells === 1) return;
  const { state, record } = await findCell(client, schemaName);
  if (state === "moving") throw cellMoving(cell);
  if (record) return requireNumber(record, { cell, cells });
  const quoted = identifier(schemaName);
  await client.query(
    sql`create table ${quoted}.cell (cell integer not null, cells integer not null, complete boolean not null default false)`,
  );
  await client.query(sql`insert into ${quoted}.cell (cell, cells) values (${cell}, ${cells})`);
}

/** A memory of one cell has its tables in `schema`, one of several beside it. */
async function requireSameSpread(
  client: ClientBase,
  { schema, cells }: { readonly schema: string; readonly cells: number },
): Promise<void> {
  const other = cells === 1 ? [cellSchema(schema, 0, 2), "cell"] : [schema, "migration"];
  const { rowCount } = await client.query(
    sql`select from pg_catalog.pg_tables where schemaname = ${other[0]} and tablename = ${other[1]}`,
  );
  if (rowCount === 0) return;
  throw new MemoryError(
    "CELLS_DIFFER",
    cells === 1
      ? `Schema "${schema}" was spread over several cells here: create the memory with that number of \`cells\`, or use another schema.`
      : `Schema "${schema}" has one cell here: create the memory without \`cells\`, or use another schema and import into it.`,
  );
}

/** @throws MemoryError `CELLS_DIFFER` */
export function requireNumber(found: CellNumber, wanted: CellNumber): void {
  if (found.cell === wanted.cell && found.cells === wanted.cells) return;
  throw new MemoryError(
    "CELLS_DIFFER",
    found.cells === wanted.cells
      ? `Where cell ${wanted.cell} is looked for there is cell ${found.cell}: \`database\` leads to the wrong place.`
      : `What is here is spread over ${found.cells} cells, and not over ${wanted.cells}: create the memory with ` +
          `\`cells: ${found.cells}\`. To have another number, export everybody and import into another schema.`,
  );
}

/** Notes in every cell that all are there. */
export async function completeCell(db: Database): Promise<void> {
  await onClient(db, (client) =>
    client.query(sql`update ${db.schema}.cell set complete = true where not complete`),
  );
}

/** The refusal of everything in a cell that is frozen. */
export function cellMoving(cell: number): MemoryError {
  return new MemoryError(
    "CELL_MOVING",
    `Cell ${cell} is being moved. Try again when it has been thawed where it is moved to, with a \`database\` that leads there.`,
  );
}
