import { createHmac } from "node:crypto";
import type { Scope } from "./scope.js";

/** The erased id as it is kept; null without a key. */
export function idHmacOf(key: string | undefined, scope: Scope): string | null {
  if (key === undefined) return null;
  const { tenantId = "", userId = "", appId = "" } = scope;
  return createHmac("sha256", key)
    .update(JSON.stringify([tenantId, userId, appId]))
    .digest("hex");
}
