import type { Scope } from "../scope/scope.js";
import { tenantHash } from "../scope/tenant-hash.rule.js";

/** Most cells that a memory has: names of schemas count them in three digits. */
export const mostCells = 1_000;

/**
 * The cell of a scope, from 0: the same in every process and version, and evenly spread. A scope without an id has the
 * first.
 */
export function cellOf(scope: Scope, cells: number): number {
  // Of 48 bits, what the remainder prefers is less than one in a hundred billion.
  return (tenantHash(scope) ?? 0) % cells;
}

/**
 * Whether what belongs to a scope may be in every cell: of an app without a tenant, whose users are spread.
 */
export function isEverywhere({ tenantId, userId }: Scope): boolean {
  return tenantId === undefined && userId === undefined;
}

/** The schema of a cell: that of a memory with one cell has no number. */
export function cellSchema(schema: string, cell: number, cells: number): string {
  return cells === 1 ? schema : `${schema}_c${String(cell).padStart(3, "0")}`;
}

/** What a cell's schema is called while it is moved. */
export function movingSchema(cellSchema: string): string {
  return `${cellSchema}_moving`;
}
