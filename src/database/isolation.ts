import type { ClientBase, QueryResult } from "pg";
import { MemoryError } from "../errors.js";
import { currentTenancy } from "./tenancy.js";

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

const setTenant = {
  name: "mnemograph_tenant",
  text: "select set_config('mnemograph.tenant_id', $1, true)",
};

/** Opens a transaction that sees the rows `tenancy` says. One round trip on a pipelining client, else two. */
export async function beginAs(client: ClientBase, tenancy: string): Promise<void> {
  await inOrder(client, [
    () => client.query("begin"),
    () => client.query({ ...setTenant, values: [tenancy] }),
  ]);
}

/**
 * The result of one statement in a transaction of its own that sees the rows `tenancy` says. One round trip on a
 * pipelining client, else four.
 */
export async function queryAs(
  client: ClientBase,
  tenancy: string,
  statement: { text: string; values: unknown[]; name?: string },
): Promise<QueryResult> {
  const results = await inOrder(client, [
    () => client.query("begin"),
    () => client.query({ ...setTenant, values: [tenancy] }),
    () => client.query(statement),
    () => client.query("commit"),
  ]);
  return results[2] as QueryResult;
}

/**
 * Runs the steps of a transaction; its first error, after a rollback.
 *
 * A pipelining client gets them all at once. After a failure the server refuses those that follow, and takes "commit"
 * for "rollback".
 */
async function inOrder(
  client: ClientBase,
  steps: readonly (() => Promise<QueryResult>)[],
): Promise<QueryResult[]> {
  if (isPipelining(client)) {
    const settled = await Promise.allSettled(steps.map((step) => step()));
    const failed = settled.find((result) => result.status === "rejected");
    if (failed && settled.at(-1)?.status === "rejected") await client.query("rollback").catch(() => {});
    if (failed) throw failed.reason;
    return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }
  const results: QueryResult[] = [];
  try {
    for (const step of steps) results.push(await step());
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
  return results;
}

function isPipelining(client: ClientBase): boolean {
  return "pipeline" in client && client.pipeline === true;
}
