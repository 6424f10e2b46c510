import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { MemoryError } from "../errors.js";
import type { Ask, LocalSetting } from "./session-settings.js";

/** The setting `mnemograph.tenant_id` of running calls: "t:" and a tenant's id, or "*". */
const running = new AsyncLocalStorage<string>();

/** Runs `work` with the rows of one tenant visible; "" and undefined mean no tenant. */
export const asTenant = <Result>(tenantId: string | undefined, work: () => Result): Result =>
  running.run(`t:${tenantId ?? ""}`, work);

/** Runs `work` with all tenants visible. With isolation, only the owner of the tables may. */
export const acrossTenants = <Result>(work: () => Result): Result => running.run("*", work);

export function asListed<Result>(
  {
    scope,
    tenantId,
  }: { readonly scope?: { tenantId?: string } | undefined; readonly tenantId?: string | undefined },
  work: () => Result,
): Result {
  if (scope) return asTenant(scope.tenantId, work);
  return tenantId === undefined ? acrossTenants(work) : asTenant(tenantId, work);
}

export function keepTenancy(): <Result>(work: () => Result) => Result {
  const tenancy = running.getStore();
  return (work) => (tenancy === undefined ? work() : running.run(tenancy, work));
}

export const currentTenancy = (): string | undefined => running.getStore();

export interface IsolationStatus {
  readonly enforced: boolean;
  readonly exempt: boolean;
  readonly owner: boolean;
}

export async function findIsolation(ask: Ask, schemaName: string): Promise<IsolationStatus> {
  const { rows } = await ask({
    text: `select coalesce(c.relrowsecurity and c.relforcerowsecurity, false) as enforced,
       r.rolsuper or r.rolbypassrls as exempt, coalesce(pg_has_role(c.relowner, 'usage'), false) as owner
     from pg_catalog.pg_roles r
     left join (
       pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = $1
     ) on c.relname = 'thread'
     where r.rolname = current_user`,
    values: [schemaName],
  });
  return rows[0] ?? { enforced: false, exempt: false, owner: false };
}

/**
 * @throws MemoryError `SETUP_REQUIRED`, `PERMISSION_DENIED` if the role bypasses row-level
 * security.
 */
export function requireIsolation(status: IsolationStatus, schemaName: string): IsolationStatus {
  if (status.exempt) {
    throw new MemoryError(
      "PERMISSION_DENIED",
      "The database role is exempt from row-level security, so tenants would not be isolated: connect as a role that " +
        "is no superuser and has no BYPASSRLS. (The embedded database has superusers only.)",
    );
  }
  if (status.enforced) return status;
  throw new MemoryError(
    "SETUP_REQUIRED",
    `Schema "${schemaName}" does not isolate tenants yet. Run \`await memory.setup()\` with isolation: "rls", or ` +
      "`npx @mnemograph/server migrate --isolation`, as the role that owns the tables.",
  );
}

export function requireTenancy(): string {
  const tenancy = currentTenancy();
  if (tenancy !== undefined) return tenancy;
  throw new MemoryError(
    "PERMISSION_DENIED",
    'With isolation: "rls" every statement needs a tenant: call it through the memory, with a scope.',
  );
}

export const tenantSetting = (tenancy: string): LocalSetting => ({
  text: `set local mnemograph.tenant_id to ${pg.escapeLiteral(tenancy)}`,
});
