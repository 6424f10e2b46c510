import type { Logger } from "./logger.js";
import type { Database } from "./postgres/database.js";
import type { Scope } from "./scope/scope.js";
import type { MemoryWithWayIn } from "./way-in.js";

/** A complete memory in a schema of its own, one of those that a memory is spread over. */
export interface OpenedCell {
  readonly memory: MemoryWithWayIn;
  readonly db: Database;
}

/** One of the cells, as calls use it. */
export interface Cell {
  readonly cell: number;
  /**
   * What `work` does there.
   *
   * @throws MemoryError `CELL_MOVING`, `CELLS_DIFFER`, `SETUP_REQUIRED`
   */
  run<Result>(work: (memory: MemoryWithWayIn, db: Database) => Promise<Result>): Promise<Result>;
  /** Its memory, whether its tables are there or not: for what asks the database for nothing. */
  opened(): OpenedCell;
  /** The same, where something was asked of it already. */
  known(): OpenedCell | undefined;
  /** Where it is to be found elsewhere by now, what was opened is closed, and the next call goes there. */
  follow(): void;
}

/** All cells of a memory. */
export interface Cells {
  readonly all: readonly Cell[];
  /** The cell of a scope; the first of what is no scope, which every call refuses there. */
  of(scope: unknown): Cell;
  /** The cells that may hold something of a scope: its own, or all of an app without a tenant, or where none is named. */
  within(scope: unknown): readonly Cell[];
  readonly defaultScope: Scope | null;
  readonly logger: Logger;
}
