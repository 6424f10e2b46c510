import type { ClientBase, QueryConfig, QueryResult } from "pg";
import { withinDeadline } from "./statement-deadline.js";

/** A statement that changes a setting until its transaction ends. */
export type LocalSetting = QueryConfig;

/** Lifts the deadline that `prepareSession` gave a session; one of the role's or the connection string's holds. */
export const noSessionTimeout: LocalSetting = { text: "set local statement_timeout to default" };

/** Opens a transaction with `settings`. One round trip on a pipelining client, else one for each statement. */
export async function beginWith(client: ClientBase, settings: readonly LocalSetting[]): Promise<void> {
  await inOrder(client, [{ text: "begin" }, ...settings]);
}

/**
 * The result of one statement under `settings`, in a transaction of its own. One round trip on a pipelining client and
 * where there are no settings, else one for each statement.
 */
export async function queryWith(
  client: ClientBase,
  settings: readonly LocalSetting[],
  statement: QueryConfig,
): Promise<QueryResult> {
  if (settings.length === 0) return client.query(statement);
  const results = await inOrder(client, [{ text: "begin" }, ...settings, statement, { text: "commit" }]);
  return results.at(-2) as QueryResult;
}

/**
 * Runs the statements of a transaction; its first error, after a rollback.
 *
 * A pipelining client gets them all at once. After a failure the server refuses those that follow, and takes "commit"
 * for "rollback".
 */
async function inOrder(client: ClientBase, statements: readonly QueryConfig[]): Promise<QueryResult[]> {
  if (isPipelining(client)) {
    const settled = await Promise.allSettled(statements.map((statement) => client.query(statement)));
    const failed = settled.find((result) => result.status === "rejected");
    if (failed && settled.at(-1)?.status === "rejected") await client.query("rollback").catch(() => {});
    if (failed) throw failed.reason;
    return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }
  const results: QueryResult[] = [];
  try {
    for (const statement of statements) results.push(await client.query(statement));
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
  return results;
}

function isPipelining(client: ClientBase): boolean {
  return "pipeline" in client && client.pipeline === true;
}

/** Clients whose sessions belong to a pooler, as far as that is known. */
const pooled = new WeakSet<ClientBase>();

/** What a large statement needs on `client` beforehand: nothing where the session is our own. */
export function planningSettings(client: ClientBase): readonly LocalSetting[] {
  return pooled.has(client) ? [plannedOnce] : [];
}

/**
 * What `prepareSession` sets for sessions of our own, for one transaction. What planning a recall costs (25 ms) it does
 * not change, and neither do limits on the order of joins: no more than a tenth, for plans that may be worse.
 */
const plannedOnce: LocalSetting = {
  text: "select set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)",
};

/**
 * What prepares a new session of a pool of ours, for `onConnect`, which waits for it: a second query beside a running
 * one is something pg warns of.
 *
 * It keeps one plan for a prepared statement. Recall is one large statement: planning it takes longer than running it,
 * and compiling it (JIT) hundreds of times longer. PostgreSQL would go on planning it anew, since a plan for known
 * values looks a little cheaper. Behind a pooler nothing is set: others use its sessions as well.
 *
 * @param statementTimeoutMs longest time of a statement, also when this process is gone or LangGraph's checkpointer
 *   sent it. It is no startup parameter, since poolers refuse those they do not know, and not set where the role, the
 *   database or the connection string has one.
 * @param answerTimeoutMs how long a server that accepted the connection may be silent.
 */
export function prepareSession(
  statementTimeoutMs?: number,
  answerTimeoutMs?: number,
): (client: ClientBase) => Promise<void> {
  return async (client) => {
    // A pooler makes its process ids up. The embedded database has none.
    const { processID = null } = client as { readonly processID?: number | null };
    // Its failure shows in the statement that follows on the same client.
    const answer = await withinDeadline(client, answerTimeoutMs, () =>
      client.query<{ own: boolean }>(
        `with session as materialized (select coalesce(pg_backend_pid() = $1::int, true) as own)
         select own,
           case when own then set_config('jit', 'off', false) end,
           case when own then set_config('plan_cache_mode', 'force_generic_plan', false) end,
           case when own and current_setting('statement_timeout') = '0'
             then set_config('statement_timeout', $2::text, false) end
         from session`,
        [processID, statementTimeoutMs === undefined ? "0" : String(statementTimeoutMs)],
      ),
    ).catch(() => null);
    if (answer?.rows[0]?.own !== false) return;
    pooled.add(client);
    // Settings for a statement are then a transaction: sent at once, it takes one round trip.
    (client as { pipeline?: boolean }).pipeline = true;
  };
}
