import type { Database } from "../postgres/database.js";
import { acrossTenants, currentTenancy, keepTenancy } from "../postgres/isolation.js";
import type { Work, WorkKind } from "./background-work.js";

/** `work`, which later sees what the call that starts it sees. */
export function keepTenant({ name, run }: Work): Work {
  const keep = keepTenancy();
  return { name, run: () => keep(run) };
}

/**
 * What is due of `kind` in all tenants. When nobody asked, nothing where tenants are isolated and this process may not
 * see them all.
 */
export function workAcrossTenants(db: Database, kind: WorkKind): WorkKind {
  return {
    ...kind,
    async due(limit) {
      if (currentTenancy() === undefined && !(await db.mayCrossTenants())) return [];
      const due = await acrossTenants(() => kind.due(limit));
      return due.map(({ name, run }) => ({ name, run: () => acrossTenants(run) }));
    },
  };
}
