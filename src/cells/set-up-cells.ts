import { MemoryError } from "../errors.js";
import type { Database } from "../postgres/database.js";
import { cellSchema } from "./cell-place.rule.js";
import { cellMoving, completeCell, readCell, requireNumber } from "./cell-record.js";

/** A cell, and how its tables are made; returns the migrations that ran. */
export interface CellToSetUp {
  readonly db: Database;
  readonly setup: () => Promise<string[]>;
}

/** What was done to set up a cell: the migrations that ran. */
export interface AppliedToCell {
  readonly schema: string;
  readonly applied: readonly string[];
}

/** The migrations that ran, each after the schema that it ran in. */
export function appliedNames(cells: readonly AppliedToCell[]): string[] {
  return cells.flatMap(({ schema, applied }) => applied.map((name) => `${schema}: ${name}`));
}

/**
 * Sets up all cells, one after the other. Where all were made once, none is made anew: one that is missing is elsewhere.
 *
 * @param schema that the cells' are named after.
 * @throws MemoryError `CELLS_DIFFER`, `CELL_MOVING`, and what `setup` of a cell throws
 */
export async function setUpCells(all: readonly CellToSetUp[], schema: string): Promise<AppliedToCell[]> {
  const cells = all.length;
  const states = await Promise.all(all.map(({ db }) => readCell(db)));
  for (const [cell, { record }] of states.entries()) if (record) requireNumber(record, { cell, cells });
  const moving = states.findIndex(({ state }) => state === "moving");
  if (moving >= 0) throw cellMoving(moving);
  const missing = states.findIndex(({ state }) => state === "missing");
  if (missing >= 0 && states.some(({ record }) => record?.complete)) {
    throw new MemoryError(
      "CELLS_DIFFER",
      `Cell ${missing} was set up before, and its schema "${cellSchema(schema, missing, cells)}" is not where \`database\` ` +
        "leads to: restore it there, or correct `database`.",
    );
  }
  const done: AppliedToCell[] = [];
  for (const { db, setup } of all) done.push({ schema: db.schemaName, applied: await setup() });
  if (states.some(({ record }) => !record?.complete)) for (const { db } of all) await completeCell(db);
  return done;
}
