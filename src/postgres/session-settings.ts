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

/**
 * What prepares a new session of a pool of ours, for `onConnect`, which waits for it: a second query beside a running
 * one is something pg warns of.
 *
 * It keeps one plan for a prepared statement. Recall is one large statement: planning it takes longer than running it,
 * and compiling it (JIT) hundreds of times longer. PostgreSQL would go on planning it anew, since a plan for known
 * values looks a little cheaper.
 *
 * @param statementTimeoutMs longest time of a statement, also when this process is gone or LangGraph's checkpointer
 *   sent it. It is no startup parameter, since poolers refuse those they do not know; behind a pooler, whose sessions
 *   others use as well, it is not set, and neither where the role, the database or the connection string has one.
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
    await withinDeadline(client, answerTimeoutMs, () =>
      client.query(
        `select set_config('jit', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false),
           case when current_setting('statement_timeout') = '0' and pg_backend_pid() = $1::int
             then set_config('statement_timeout', $2::text, false) end`,
        [processID, statementTimeoutMs === undefined ? "0" : String(statementTimeoutMs)],
      ),
    ).catch(() => {});
  };
}
