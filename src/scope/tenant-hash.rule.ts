import { createHash } from "node:crypto";
import type { Scope } from "./scope.js";

export const tenantHashes = 2 ** 48;

/**
 * A hash of a scope's tenant, else user, else app, from 0 to below `tenantHashes`, equal
 * everywhere.
 */
export function tenantHash({ tenantId, userId, appId }: Scope): number | null {
  const key =
    (tenantId !== undefined && ["tenant", tenantId]) ||
    (userId !== undefined && ["user", userId]) ||
    (appId !== undefined && ["app", appId]);
  if (!key) return null;
  return createHash("sha256").update(JSON.stringify(key)).digest().readUIntBE(0, 6);
}
