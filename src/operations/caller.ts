import { z } from "zod";
import { MemoryError } from "../errors.js";
import { type AppScope, parseAppScope, parseScope, type Scope } from "../scope/scope.js";
import { described } from "./fields.js";

export type Caller = UserCaller | OperatorCaller;

/** A user, a user within an app, or an app: reaches only its own memories. */
export interface UserCaller {
  readonly role: "user";
  readonly scope: Scope;
  /** For the audit trail. @default "user" */
  readonly actor?: string;
}

/** Names whose memories it means: `?tenantId=…&userId=…&appId=…`. */
export interface OperatorCaller {
  readonly role: "operator";
  /** The only tenant that it reaches. @default all */
  readonly tenantId?: string;
  /** For the audit trail. @default "operator" */
  readonly actor?: string;
}

const namedId = (what: string) =>
  z
    .string()
    .optional()
    .register(described, { description: `For operators: the ${what}.` });

export const namedIds = z.strictObject({ tenantId: namedId("tenant"), userId: namedId("user"), appId: namedId("app") });
export type NamedIds = z.output<typeof namedIds>;

export interface WhoseBy {
  /** A user's own scope, or the one that an operator names. */
  readonly scope: { readonly scope: Scope };
  /** The same; for an operator who names none, its tenant or everybody. */
  readonly listed: { readonly scope: Scope } | { readonly tenantId?: string };
  /** The same where rows have no tenant: an operator of one tenant names a scope. */
  readonly counted: { readonly scope?: Scope };
  /** The path's app without its users: for operators and the app itself. */
  readonly app: { readonly scope: AppScope };
  /** For operators: one tenant, or all. */
  readonly tenant: { readonly tenantId?: string };
  /** For operators of all tenants. */
  readonly everything: object;
}

export type Reach = keyof WhoseBy;

/** What a caller cannot reach looks missing. @throws MemoryError `NOT_FOUND`, `SCOPE_REQUIRED`, `INVALID_INPUT` */
export function whoseOf<Reached extends Reach>(
  reach: Reached,
  caller: Caller,
  named: NamedIds,
  appId?: string,
): WhoseBy[Reached] {
  const found = caller.role === "user" ? ofUser(reach, caller, named, appId) : ofOperator(reach, caller, named, appId);
  return found as WhoseBy[Reached];
}

function ofUser(reach: Reach, { scope }: UserCaller, named: NamedIds, appId?: string): WhoseBy[Reach] {
  const others = Object.entries(named).filter(([name, id]) => scope[name as keyof Scope] !== id);
  if (others.length > 0 || reach === "tenant" || reach === "everything") throw notThere();
  if (reach !== "app") return { scope };
  if (appId === undefined || scope.appId !== appId || scope.userId !== undefined) throw notThere();
  return { scope: parseAppScope(scope) };
}

function ofOperator(reach: Reach, caller: OperatorCaller, named: NamedIds, appId?: string): WhoseBy[Reach] {
  const { tenantId: tenantOf, ...ids } = named;
  const tenantId = caller.tenantId ?? tenantOf;
  if (tenantOf !== undefined && tenantOf !== tenantId) throw notThere();
  const tenant = tenantId === undefined ? {} : { tenantId };
  const isSomebody = Object.keys(ids).length > 0;
  const isScoped: Partial<Record<Reach, boolean>> = {
    scope: true,
    listed: isSomebody,
    // There are no counts by tenant, and all tenants' would be too much.
    counted: isSomebody || tenantId !== undefined,
  };
  if (isScoped[reach]) return { scope: parseScope({ ...tenant, ...ids }) };
  if (reach === "everything" && caller.tenantId !== undefined) throw notThere();
  if (isSomebody || (reach === "everything" && tenantOf !== undefined))
    throw new MemoryError("INVALID_INPUT", "This is not about a user or an app: name none in the query.");
  return reach === "app" ? { scope: parseAppScope({ ...tenant, appId }) } : tenant;
}

/** Another's and what does not exist look alike. */
export function notThere(): MemoryError {
  return new MemoryError("NOT_FOUND", "There is nothing of that name for you here.");
}

export function actorOf({ actor, role }: Caller): string {
  return actor ?? role;
}

/** @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`: a wrong answer must not widen what is reached. */
export function parseCaller(value: unknown): Caller {
  const { role, scope, tenantId, actor } = (value ?? {}) as Record<string, unknown>;
  const named = typeof actor === "string" && actor.trim() !== "" ? { actor } : {};
  if (role === "user") return { role, scope: parseScope(scope), ...named };
  if (role === "operator" && scope === undefined) {
    const isBound = typeof value === "object" && value !== null && "tenantId" in value;
    if (!isBound) return { role, ...named };
    if (typeof tenantId === "string" && tenantId.trim() !== "") return { role, tenantId, ...named };
  }
  throw new MemoryError(
    "INVALID_INPUT",
    '`authenticate` must answer { role: "user", scope }, { role: "operator", tenantId? }, or null.',
  );
}
