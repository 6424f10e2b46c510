import type { Scope } from "mnemograph";
import { type AppScope, MemoryError, parseAppScope, parseScope } from "mnemograph/contract";
import { z } from "zod";
import { withDescription } from "./fields.js";

export type Caller = UserCaller | OperatorCaller;

/** A user, a user within an app, or an app. Reaches only its own memories. */
export interface UserCaller {
  readonly role: "user";
  readonly scope: Scope;
  /** For the audit trail. @default "user" */
  readonly actor?: string;
}

/** Names the owner of the memories in the query: `?tenantId=…&userId=…&appId=…`. */
export interface OperatorCaller {
  readonly role: "operator";
  /** The only tenant that it reaches. @default all */
  readonly tenantId?: string;
  /** For the audit trail. @default "operator" */
  readonly actor?: string;
}

const namedId = (owner: string) =>
  withDescription(z.string().optional(), `For operators: the ${owner}.`);

export const ownerIdFields = z.strictObject({
  tenantId: namedId("tenant"),
  userId: namedId("user"),
  appId: namedId("app"),
});
export type NamedIds = z.output<typeof ownerIdFields>;

export interface TargetByReach {
  /** A user's own scope, or the scope that an operator names. */
  readonly scope: { readonly scope: Scope };
  /** As `scope`; without a name, an operator's tenant or all tenants. */
  readonly listed: { readonly scope: Scope } | { readonly tenantId?: string };
  /** As `listed`, for rows without a tenant: an operator of one tenant must name a scope. */
  readonly counted: { readonly scope?: Scope };
  /** The path's app, without its users. For operators and the app itself. */
  readonly app: { readonly scope: AppScope };
  /** For operators: one tenant, or all. */
  readonly tenant: { readonly tenantId?: string };
  /** For operators of all tenants. */
  readonly everything: object;
}

export type Reach = keyof TargetByReach;

/**
 * The owner that a call is about. Hides what the caller cannot reach.
 * @throws MemoryError `NOT_FOUND`, `SCOPE_REQUIRED`, `INVALID_INPUT`
 */
export function targetOf<Reached extends Reach>(
  reach: Reached,
  caller: Caller,
  named: NamedIds,
  appId?: string,
) {
  const found =
    caller.role === "user"
      ? targetOfUser(reach, caller, named, appId)
      : targetOfOperator(reach, caller, named, appId);
  return found as TargetByReach[Reached];
}

function targetOfUser(
  reach: Reach,
  { scope }: UserCaller,
  named: NamedIds,
  appId?: string,
): TargetByReach[Reach] {
  const namesOther = Object.entries(named).some(([name, id]) => scope[name as keyof Scope] !== id);
  if (namesOther || reach === "tenant" || reach === "everything") throw nothingHere();
  if (reach !== "app") return { scope };
  if (appId === undefined || scope.appId !== appId || scope.userId !== undefined)
    throw nothingHere();
  return { scope: parseAppScope(scope) };
}

function targetOfOperator(
  reach: Reach,
  caller: OperatorCaller,
  named: NamedIds,
  appId?: string,
): TargetByReach[Reach] {
  const { tenantId: namedTenant, ...ids } = named;
  const tenantId = caller.tenantId ?? namedTenant;
  if (namedTenant !== undefined && namedTenant !== tenantId) throw nothingHere();
  const tenant = tenantId === undefined ? {} : { tenantId };
  const hasOwner = Object.keys(ids).length > 0;
  const needsScope: Partial<Record<Reach, boolean>> = {
    scope: true,
    listed: hasOwner,
    // Counts by tenant do not exist, and those of all tenants would reveal too much.
    counted: hasOwner || tenantId !== undefined,
  };
  if (needsScope[reach]) return { scope: parseScope({ ...tenant, ...ids }) };
  if (reach === "everything" && caller.tenantId !== undefined) throw nothingHere();
  if (hasOwner || (reach === "everything" && namedTenant !== undefined))
    throw new MemoryError(
      "INVALID_INPUT",
      "This is not about a user or an app: name none in the query.",
    );
  return reach === "app" ? { scope: parseAppScope({ ...tenant, appId }) } : tenant;
}

/** The same error for what does not exist and for what belongs to another. */
export function nothingHere(): MemoryError {
  return new MemoryError("NOT_FOUND", "There is nothing of that name for you here.");
}

export const actorOf = ({ actor, role }: Caller): string => actor ?? role;

/**
 * Checks what `authenticate` returned, so that a mistake there gives no access.
 * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`
 */
export function parseCaller(value: unknown): Caller {
  const { role, scope, tenantId, actor } = (value ?? {}) as Record<string, unknown>;
  const named = typeof actor === "string" && actor.trim() !== "" ? { actor } : {};
  if (role === "user") return { role, scope: parseScope(scope), ...named };
  if (role === "operator" && scope === undefined) {
    const isBound = typeof value === "object" && value !== null && "tenantId" in value;
    if (!isBound) return { role, ...named };
    if (typeof tenantId === "string" && tenantId.trim() !== "") return { role, tenantId, ...named };
  }
  const message =
    '`authenticate` must return { role: "user", scope }, { role: "operator", tenantId? }, or null.';
  throw new MemoryError("INVALID_INPUT", message);
}
