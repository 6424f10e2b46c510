import { MemoryError } from "../../errors.js";
import { type AppScope, parseAppScope, parseScope, type Scope } from "../../scope/scope.js";

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

/** The ids that a request names, which only an operator may. */
export interface NamedIds {
  readonly tenantId?: string;
  readonly userId?: string;
  readonly appId?: string;
}

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

function ofUser(
  reach: Reach,
  { scope }: UserCaller,
  named: NamedIds,
  appId: string | undefined,
): WhoseBy[Reach] {
  const others = Object.entries(named).filter(([name, id]) => scope[name as keyof Scope] !== id);
  if (others.length > 0 || reach === "tenant" || reach === "everything") throw notThere();
  if (reach !== "app") return { scope };
  if (appId === undefined || scope.appId !== appId || scope.userId !== undefined) throw notThere();
  return { scope: parseAppScope(scope) };
}

function ofOperator(
  reach: Reach,
  caller: OperatorCaller,
  { tenantId: tenantOf, ...ids }: NamedIds,
  appId: string | undefined,
): WhoseBy[Reach] {
  if (caller.tenantId !== undefined && (tenantOf ?? caller.tenantId) !== caller.tenantId) throw notThere();
  const tenantId = caller.tenantId ?? tenantOf;
  const tenant = tenantId === undefined ? {} : { tenantId };
  const somebody = Object.keys(ids).length > 0;
  const alone = <Whose>(what: string, whose: () => Whose) => {
    if (somebody) throw meaningless(what);
    return whose();
  };
  const scoped = () => ({ scope: parseScope({ ...tenant, ...ids }) });
  const found: Readonly<Record<Reach, () => WhoseBy[Reach]>> = {
    scope: scoped,
    listed: () => (somebody ? scoped() : tenant),
    // Of all there is a tenant's part cannot be told, and nobody is given more than was asked for.
    counted: () => (somebody || tenantId !== undefined ? scoped() : {}),
    app: () =>
      alone("This is about the app that the path names", () => ({
        scope: parseAppScope({ ...tenant, appId }),
      })),
    tenant: () => alone("This is about a tenant, or all of them", () => tenant),
    everything: () => ofEverybody(caller, somebody || tenantId !== undefined),
  };
  return found[reach]();
}

function ofEverybody({ tenantId }: OperatorCaller, named: boolean): object {
  if (tenantId !== undefined) throw notThere();
  if (named) throw meaningless("This is about everything there is");
  return {};
}

/** The refusal that tells nothing: what is another's, and what does not exist, look alike. */
export function notThere(): MemoryError {
  return new MemoryError("NOT_FOUND", "There is nothing of that name for you here.");
}

function meaningless(what: string): MemoryError {
  return new MemoryError(
    "INVALID_INPUT",
    `${what}: leave userId, appId and what else says whose out of the query.`,
  );
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
