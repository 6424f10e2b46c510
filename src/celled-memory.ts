import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { Cell, Cells, OpenedCell } from "./cell.js";
import { routedApi, routes } from "./cell-routes.js";
import { cellOf, cellSchema, isEverywhere, movingSchema } from "./cells/cell-place.rule.js";
import { type CellNumber, cellMoving, readCell, requireNumber } from "./cells/cell-record.js";
import { type CellsApi, type ListedCell, parseCell, parseFreeze } from "./cells/cells-api.js";
import { freezeCell, thawCell } from "./cells/freeze-cell.js";
import { appliedNames, setUpCells } from "./cells/set-up-cells.js";
import { MemoryError, type MemoryErrorCode } from "./errors.js";
import { CelledSaver } from "./langgraph/checkpointer/celled-saver.js";
import { errorLine, type Logger } from "./logger.js";
import type { Memory } from "./memory.js";
import { identifier } from "./postgres/connection.js";
import type { Database } from "./postgres/database.js";
import { migrationStatus } from "./postgres/migration-set.js";
import type { DatabaseOption } from "./postgres/open-database.js";
import { nobody, parseScope, type Scope } from "./scope/scope.js";

/** How a memory is spread. */
export interface Spread {
  readonly cells: number;
  /** The schema that the cells' are named after. */
  readonly schema: string;
  /** Where a cell is; asked again when it is not there any more. */
  readonly place: (cell: number) => DatabaseOption | undefined;
  /** A memory in the schema `schemaName` at `place`. */
  readonly open: (at: CellNumber & { schemaName: string; place: DatabaseOption | undefined }) => OpenedCell;
  readonly defaultScope: Scope | null;
  readonly logger: Logger;
}

/**
 * A memory spread over several cells. Each call goes to the cell of its scope, or over all; `cell-routes.ts` says which.
 *
 * @throws MemoryError `INVALID_INPUT`
 */
export function celledMemory(spread: Spread): Memory {
  const all = Array.from({ length: spread.cells }, (_, cell) => createCell(spread, cell));
  const [first] = all as [Cell, ...Cell[]];
  // Mistakes in options and names are told here, and not at the first call.
  identifier(movingSchema(cellSchema(spread.schema, 0, spread.cells)));
  first.opened();
  const isNamed = (scope: unknown): scope is Scope =>
    typeof scope === "object" &&
    scope !== null &&
    Object.values(scope).every((id) => id === undefined || typeof id === "string");
  const of = (scope: unknown) => (isNamed(scope) && all[cellOf(scope, spread.cells)]) || first;
  const cells: Cells = {
    ...{ all, of, defaultScope: spread.defaultScope, logger: spread.logger },
    within: (scope) => (isNamed(scope) && !isEverywhere(scope) ? [of(scope)] : all),
  };
  const saverOf = (cell: Cell) => cell.opened().memory.checkpointer();
  let saver: PostgresSaver | undefined;
  const whole: Pick<Memory, "setup" | "cells" | "checkpointer"> = {
    async setup() {
      const opened = all.map((cell) => cell.opened());
      return appliedNames(
        await setUpCells(
          opened.map(({ memory, db }) => ({ db, setup: memory.setup })),
          spread.schema,
        ),
      );
    },
    cells: createCellsApi(cells, spread),
    checkpointer() {
      saver ??= new CelledSaver({
        defaultScope: spread.defaultScope,
        known: () => all.flatMap((cell) => (cell.known() ? [saverOf(cell)] : [])),
        all: () => all.map(saverOf),
        use: (scope, work) => of(scope ?? nobody).run(({ checkpointer }) => work(checkpointer())),
      });
      return saver;
    },
  };
  return { ...routedApi(cells, routes, first.opened().memory), ...whole };
}

function createCell({ cells, schema, place, open }: Spread, cell: number): Cell {
  const number: CellNumber = { cell, cells };
  const schemaName = cellSchema(schema, cell, cells);
  let current: (OpenedCell & { at: DatabaseOption | undefined; checked?: Promise<void> }) | undefined;
  const opened = () => {
    if (current) return current;
    const at = place(cell);
    current = { ...open({ ...number, schemaName, place: at }), at };
    return current;
  };
  const follow = () => {
    if (!current || place(cell) === current.at) return;
    const { memory } = current;
    current = undefined;
    void memory.close().catch(() => {});
  };
  /** What is wrong where the tables of `used` are not there; `error` where it is something else. */
  const explained = async (error: unknown, used: OpenedCell): Promise<unknown> => {
    if (MemoryError.is(error, "SETUP_REQUIRED") && used === current) {
      if (await wasMoving(used.db)) error = cellMoving(cell);
      follow();
    }
    // It is elsewhere by now, and was closed here.
    return used !== current && MemoryError.is(error) && wasLost.has(error.code) ? cellMoving(cell) : error;
  };
  const check = async ({ db }: OpenedCell) => {
    const { state, record } = await readCell(db);
    if (state === "up" && record) return requireNumber(record, number);
    if (state === "moving") throw cellMoving(cell);
    throw new MemoryError(
      "SETUP_REQUIRED",
      `Cell ${cell} is not set up: there is no schema "${schemaName}" of a cell. Run \`await memory.setup()\` once, or look where \`database\` leads to.`,
    );
  };
  return {
    ...{ cell, opened, follow, known: () => current },
    async run(work) {
      const used = opened();
      try {
        used.checked ??= check(used);
        await used.checked.catch((error: unknown) => {
          delete used.checked;
          follow();
          throw error;
        });
        return await work(used.memory, used.db);
      } catch (error) {
        throw await explained(error, used);
      }
    },
  };
}

/** Whether the tables were missed because the cell is frozen, or was a moment ago: then all of them are there by now. */
async function wasMoving(db: Database): Promise<boolean> {
  const { state } = await readCell(db);
  return state === "moving" || (state === "up" && (await migrationStatus(db)).pending.length === 0);
}

/** How calls fail in a cell that was closed under them. */
const wasLost: ReadonlySet<MemoryErrorCode> = new Set(["CLOSED", "SETUP_REQUIRED", "DATABASE_UNAVAILABLE"]);

function createCellsApi({ all, of }: Cells, { cells, schema, logger }: Spread): CellsApi {
  const at = (cell: unknown) => {
    const number = parseCell(cell, cells);
    const { follow, opened } = all[number] as Cell;
    follow();
    return { number: { cell: number, cells }, db: opened().db };
  };
  const listed = async ({ cell, opened, follow }: Cell): Promise<ListedCell> => {
    follow();
    const named = { cell, schema: cellSchema(schema, cell, cells) };
    try {
      return { ...named, state: (await readCell(opened().db)).state };
    } catch (error) {
      logger.warn(`cell ${cell} does not answer: ${errorLine(error)}`);
      return { ...named, state: "unreachable" };
    }
  };
  return {
    of: (scope) => of(parseScope(scope)).cell,
    list: () => Promise.all(all.map(listed)),
    async freeze(cell, how) {
      const { timeoutMs } = parseFreeze(how);
      const { db, number } = at(cell);
      await freezeCell(db, number, { timeoutMs });
    },
    async thaw(cell) {
      const { db, number } = at(cell);
      await thawCell(db, number);
    },
  };
}
