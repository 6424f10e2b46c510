import { z } from "zod";
import { MemoryError } from "../errors.js";
import { type AppScope, parseAppScope, parseScope, type Scope } from "../scope/scope.js";
import { described } from "./fields.js";

/** Who sends a request, as `authenticate` found out. */
export type Caller = UserCaller | OperatorCaller;

/** Somebody with memories of their own: a user, a user within an app, or an app. Reaches these and nothing else. */
export interface UserCaller {
  readonly role: "user";
  readonly scope: Scope;
  /** For the audit trail. @default "user" */
  readonly actor?: string;
}

/** A person or a program in charge, who names whose memories are meant: `?tenantId=…&userId=…&appId=…`. */
export interface OperatorCaller {
  readonly role: "operator";
  /** The only tenant whose memories there are for this operator. @default all of them */
  readonly tenantId?: string;
  /** For the audit trail. @default "operator" */
  readonly actor?: string;
}

const namedId = (what: string) =>
  z
    .string()
    .optional()
    .register(described, { description: `For operators: the ${what}.` });

/** Ids that say whose memories are meant, which only an operator may. */
export const namedIds = z.strictObject({
  ...{ tenantId: namedId("tenant"), userId: namedId("user"), appId: namedId("app") },
});
export type NamedIds = z.output<typeof namedIds>;

/** Whose memories a call is about, by how far it reaches. */
export interface WhoseBy {
  /** One scope: a user's own, or the one that an operator names. */
  readonly scope: { readonly scope: Scope };
  /** The same; of an operator who names none a tenant's, or everybody's. */
  readonly listed: { readonly scope: Scope } | { readonly tenantId?: string };
  /** The same, of what cannot be told by tenants: an operator of one tenant names a scope. */
  readonly counted: { readonly scope?: Scope };
  /** An app of the path, without its users: for operators, and for the app itself. */
  readonly app: { readonly scope: AppScope };
  /** For operators: a tenant, or all. */
  readonly tenant: { readonly tenantId?: string };
  /** For operators of all tenants. */
  readonly everything: object;
}

/** How far a call reaches. */
export type Reach = keyof WhoseBy;

/**
 * Whose memories a call is about. What lies outside a caller's reach is not there: nobody learns whether it is elsewhere.
 *
 * @param appId the app that the path names, if it names one.
 * @throws MemoryError `NOT_FOUND`; `SCOPE_REQUIRED` where an operator has to name somebody; `INVALID_INPUT` where that
 *   would be without meaning.
 */
export function whoseOf<Reached extends Reach>(
  reach: Reached,
  caller: Caller,
  named: NamedIds,
  appId?: string,
): WhoseBy[Reached] {
  const found =
    caller.role === "user" ? ofUser(reach, caller, named, appId) : ofOperator(reach, caller, named, appId);
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
    ...{ scope: true, listed: isSomebody },
    // Of all there is a tenant's part cannot be counted, and nobody is given more than was asked for.
    counted: isSomebody || tenantId !== undefined,
  };
  if (isScoped[reach]) return { scope: parseScope({ ...tenant, ...ids }) };
  if (reach === "everything" && caller.tenantId !== undefined) throw notThere();
  if (isSomebody || (reach === "everything" && tenantOf !== undefined))
    throw new MemoryError("INVALID_INPUT", "This is not about a user or an app: name none in the query.");
  return reach === "app" ? { scope: parseAppScope({ ...tenant, appId }) } : tenant;
}

/** The refusal that tells nothing: what is another's, and what does not exist, look alike. */
export function notThere(): MemoryError {
  return new MemoryError("NOT_FOUND", "There is nothing of that name for you here.");
}

/** Who acts, for the audit trail. */
export function actorOf({ actor, role }: Caller): string {
  return actor ?? role;
}

/**
 * `value`, as a caller.
 *
 * @throws MemoryError `SCOPE_REQUIRED` for a user without a scope, `INVALID_INPUT` for what is no caller: a wrong answer of
 *   `authenticate` must not widen what is reached.
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
  throw new MemoryError(
    "INVALID_INPUT",
    '`authenticate` must answer { role: "user", scope }, { role: "operator", tenantId? }, or null.',
  );
}
