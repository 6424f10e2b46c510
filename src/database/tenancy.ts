import { AsyncLocalStorage } from "node:async_hooks";

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

/** What runs `work` later as it would run now. */
export function keepTenancy(): <Result>(work: () => Result) => Result {
  const tenancy = running.getStore();
  return (work) => (tenancy === undefined ? work() : running.run(tenancy, work));
}

/** The setting for statements of this call; undefined when nobody said whose rows they may see. */
export function currentTenancy(): string | undefined {
  return running.getStore();
}
