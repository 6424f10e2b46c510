import type { ClientBase } from "pg";

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
 */
export function prepareSession(statementTimeoutMs?: number): (client: ClientBase) => Promise<void> {
  return async (client) => {
    // A pooler makes its process ids up. The embedded database has none.
    const { processID = null } = client as { readonly processID?: number | null };
    // Its failure shows in the statement that follows on the same client.
    await client
      .query(
        `select set_config('jit', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false),
           case when current_setting('statement_timeout') = '0' and pg_backend_pid() = $1::int
             then set_config('statement_timeout', $2::text, false) end`,
        [processID, statementTimeoutMs === undefined ? "0" : String(statementTimeoutMs)],
      )
      .catch(() => {});
  };
}
