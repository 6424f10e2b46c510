import { z } from "zod";
import { MemoryError } from "../errors.js";
import { parseScope, type Scope } from "../scope/scope.js";
import { parseInput, timerOption } from "../text/parse-input.js";

/** One of the schemas that a memory is spread over. */
export interface ListedCell {
  readonly cell: number;
  readonly schema: string;
  /**
   * "up": in use. "moving": frozen. "missing": not set up, or not where `database` leads to. "unreachable": its database does
   * not answer.
   */
  readonly state: "up" | "moving" | "missing" | "unreachable";
}

/** How to freeze a cell. */
export interface FreezeCell {
  /** Longest wait for those who write there already, in milliseconds. @default 30_000 */
  readonly timeoutMs?: number | undefined;
}

/** The schemas that a memory is spread over, and moving one to another server. For operators. */
export interface CellsApi {
  /**
   * The cell of a scope, from 0: that of its tenant, of its user where there is no tenant, of its app where there is neither.
   *
   * @throws MemoryError `SCOPE_REQUIRED`
   */
  of(scope: Scope): number;
  /** All cells, and how they stand. */
  list(): Promise<ListedCell[]>;
  /**
   * Takes a cell out of use in all processes, to copy it to another server: its calls fail with `CELL_MOVING`, and when this
   * returns nothing is committed there any more. Its schema is called `<name>_moving` from then on. Needs the role that owns
   * the schema. Harmless when done.
   *
   * @example
   * ```ts
   * await memory.cells.freeze(3); // then pg_dump its schema into the other server, and thaw it there
   * ```
   * @throws MemoryError `BUSY` when somebody goes on writing for too long; `NOT_FOUND`, `WRONG_STATE`, `CELLS_DIFFER`,
   *   `PERMISSION_DENIED`, `INVALID_INPUT`
   */
  freeze(cell: number, how?: FreezeCell): Promise<void>;
  /**
   * Puts a cell in use again, where `database` leads to now. Harmless when done.
   *
   * @throws MemoryError `NOT_FOUND`, `WRONG_STATE`, `CELLS_DIFFER`, `PERMISSION_DENIED`, `INVALID_INPUT`
   */
  thaw(cell: number): Promise<void>;
}

const freezeSchema = z.strictObject({ timeoutMs: timerOption.min(1).default(30_000) });

/** @throws MemoryError `INVALID_INPUT` */
export function parseFreeze(how: FreezeCell | undefined): { readonly timeoutMs: number } {
  return parseInput(freezeSchema, how ?? {}, "freezing of a cell");
}

/** `cell` as the number of one of `cells`. @throws MemoryError `INVALID_INPUT` */
export function parseCell(cell: unknown, cells: number): number {
  if (Number.isInteger(cell) && (cell as number) >= 0 && (cell as number) < cells) return cell as number;
  throw new MemoryError("INVALID_INPUT", `A cell is a whole number from 0 to ${cells - 1}.`);
}

/** The `CellsApi` of a memory that has one cell, which is not moved by itself. */
export function soleCell(schema: string, isUp: () => Promise<boolean>): CellsApi {
  const refuse = async (): Promise<never> => {
    throw new MemoryError(
      "INVALID_INPUT",
      "This memory has one cell: stop what uses it, and move its schema as any other. Several are for createMemory({ cells }).",
    );
  };
  return {
    of(scope) {
      parseScope(scope);
      return 0;
    },
    list: async () => [{ cell: 0, schema, state: (await isUp()) ? "up" : "missing" }],
    async freeze(cell, how) {
      parseCell(cell, 1);
      parseFreeze(how);
      return refuse();
    },
    thaw: refuse,
  };
}
