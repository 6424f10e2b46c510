import { AsyncLocalStorage } from "node:async_hooks";
import pg, { type ClientBase } from "pg";
import { MemoryError } from "../errors.js";
import type { LocalSetting } from "./session-settings.js";

/**
 * Whose rows statements may see, as the setting `mnemograph.tenant_id` says it: "t:" and a tenant's id, or "*".
 * Follows calls and what they await, so that no statement needs to be told.
 */
const running = new AsyncLocalStorage<string>();

/** `work`, whose statements see the rows of one tenant where tenants are isolated; "" and undefined are no tenant. */
export function asTenant<Result>(tenantId: string | undefined, work: () => Result): Result {
  return running.run(`t:${tenantId ?? ""}`, work);
}

/** `work`, whose statements see the rows of all tenants; where tenants are isolated only the tables' owner may. */
export function acrossTenants<Result>(work: () => Result): Result {
  return running.run("*", work);
}

/** `work`, whose statements see what is asked about: the rows of a scope's tenant, of a named one, or of all. */
export function asListed<Result>(
  {
    scope,
    tenantId,
  }: { readonly scope?: { readonly tenantId?: string } | undefined; readonly tenantId?: string | undefined },
  work: () => Result,
): Result {
  if (scope) return asTenant(scope.tenantId, work);
  return tenantId === undefined ? acrossTenants(work) : asTenant(tenantId, work);
}

/** What runs `work` later as it would run now. */
export function keepTenancy(): <Result>(work: () => Result) => Result {
  const tenancy = running.getStore();
  return (work) => (tenancy === undefined ? work() : running.run(tenancy, work));
}

/** The setting for statements of this call; undefined when nobody said whose rows they may see. */
export function currentTenancy(): string | undefined {
  return running.getStore();
}

/** What runs a statement as pg does. */
type Run = Pick<ClientBase, "query">;

/** How a schema isolates tenants from the role that is connected. */
export interface IsolationStatus {
  /** Whether row-level security is set up. */
  readonly enforced: boolean;
  /** Whether the role is exempt from it: a superuser, or one with BYPASSRLS. */
  readonly exempt: boolean;
  /** Whether the role may work across tenants. */
  readonly owner: boolean;
}

/** The status of `schemaName` for the role of `client`; nothing is enforced where there are no tables. */
export async function findIsolation(client: Run, schemaName: string): Promise<IsolationStatus> {
  const { rows } = await client.query<IsolationStatus>(
    `select coalesce(c.relrowsecurity and c.relforcerowsecurity, false) as enforced,
       r.rolsuper or r.rolbypassrls as exempt, coalesce(pg_has_role(c.relowner, 'usage'), false) as owner
     from pg_catalog.pg_roles r
     left join (
       pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = $1
     ) on c.relname = 'thread'
     where r.rolname = current_user`,
    [schemaName],
  );
  return rows[0] ?? { enforced: false, exempt: false, owner: false };
}

/**
 * @throws MemoryError `SETUP_REQUIRED`, `PERMISSION_DENIED` when row-level security would isolate nothing.
 */
export function requireIsolation({ enforced, exempt }: IsolationStatus, schemaName: string): void {
  if (exempt) {
    throw new MemoryError(
      "PERMISSION_DENIED",
      "The database role is exempt from row-level security, so tenants would not be isolated: connect as a role that " +
        "is no superuser and has no BYPASSRLS. (The embedded database has superusers only.)",
    );
  }
  if (enforced) return;
  throw new MemoryError(
    "SETUP_REQUIRED",
    `Schema "${schemaName}" does not isolate tenants yet. Run \`await memory.setup()\` with isolation: "rls", or ` +
      "`mnemograph migrate --isolation`, as the role that owns the tables.",
  );
}

/** @throws MemoryError `PERMISSION_DENIED` */
export function requireTenancy(): string {
  const tenancy = currentTenancy();
  if (tenancy !== undefined) return tenancy;
  throw new MemoryError(
    "PERMISSION_DENIED",
    'With isolation: "rls" every statement needs a tenant: call it through the memory, with a scope.',
  );
}

/** The setting that shows the rows `tenancy` says to the statements of a transaction. */
export function tenantSetting(tenancy: string): LocalSetting {
  return { text: `set local mnemograph.tenant_id to ${pg.escapeLiteral(tenancy)}` };
}
