import { createHash } from "node:crypto";
import type { Scope } from "../scope/scope.js";

/** Most cells that a memory has: names of schemas count them in three digits. */
export const mostCells = 1_000;

/** Whose a cell is decided by: a tenant, a user where there is none, an app where there is neither. */
type SpreadBy = readonly [by: "tenant" | "user" | "app", id: string];

function spreadBy({ tenantId, userId, appId }: Scope): SpreadBy | null {
  if (tenantId !== undefined) return ["tenant", tenantId];
  if (userId !== undefined) return ["user", userId];
  return appId === undefined ? null : ["app", appId];
}

/**
 * The cell of a scope, from 0: the same in every process and version, and evenly spread. A scope without an id has the
 * first.
 */
export function cellOf(scope: Scope, cells: number): number {
  const key = spreadBy(scope);
  if (key === null || cells === 1) return 0;
  // 48 bits, which a number holds exactly: what the remainder prefers is less than one in a hundred billion.
  return createHash("sha256").update(JSON.stringify(key)).digest().readUIntBE(0, 6) % cells;
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
