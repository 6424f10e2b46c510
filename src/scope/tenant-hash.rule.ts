import { createHash } from "node:crypto";
import type { Scope } from "./scope.js";

/** Tenants have one in 2^48, which a number holds exactly. */
export const tenantHashes = 2 ** 48;

/**
 * A number for a scope's tenant, for its user where there is none, and for its app where there is neither: from 0 to
 * below `tenantHashes`, evenly spread, the same in every process and version. Null for a scope without an id.
 */
export function tenantHash({ tenantId, userId, appId }: Scope): number | null {
  const key =
    (tenantId !== undefined && ["tenant", tenantId]) ||
    (userId !== undefined && ["user", userId]) ||
    (appId !== undefined && ["app", appId]);
  if (!key) return null;
  return createHash("sha256").update(JSON.stringify(key)).digest().readUIntBE(0, 6);
}
