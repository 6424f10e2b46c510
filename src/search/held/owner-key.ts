import { createHash } from "node:crypto";
import type { Scope } from "../../scope/scope.js";
import { ownerColumns, scopeColumns, scopeOf } from "../../scope/scope-predicates.js";

/**
 * The owners whose memories are seen from `scope`, each as one string: its user, then its app, where it names them. No
 * two owners have the same key, whatever characters their ids are made of.
 */
export function ownerKeys(scope: Scope): string[] {
  const { tenantId, userId, appId } = scopeColumns(scope);
  return [
    ...(userId === "" ? [] : [keyOf(tenantId, userId, "")]),
    ...(appId === "" ? [] : [keyOf(tenantId, "", appId)]),
  ];
}

/** The owner of what is kept of `scope`: its user, or its app where there is no user. */
export function ownerKey(scope: Scope): string {
  const { tenantId, userId, appId } = ownerColumns(scope);
  return keyOf(tenantId, userId, appId);
}

/** The scope that names this owner and nobody else. */
export function scopeOfKey(key: string): Scope {
  const [tenant_id, user_id, app_id] = JSON.parse(key) as [string, string, string];
  return scopeOf({ tenant_id, user_id, app_id });
}

/** Longest key that is kept as it is where only its equality counts. Ids may have any length. */
const mostCharacters = 200;

/** `key`, or its digest where it is long. No key is a digest: keys begin with a bracket. */
export function shortKey(key: string): string {
  return key.length <= mostCharacters ? key : createHash("sha256").update(key).digest("hex");
}

function keyOf(tenantId: string, userId: string, appId: string): string {
  return JSON.stringify([tenantId, userId, appId]);
}
