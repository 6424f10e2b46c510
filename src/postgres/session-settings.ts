import type { ClientBase, QueryConfig, QueryResult } from "pg";

export type LocalSetting = QueryConfig;

export type Ask = (statement: QueryConfig) => Promise<QueryResult>;

/** Without a deadline. */
export const askOf =
  (client: ClientBase): Ask =>
  (statement) =>
    client.query(statement);

// Owner of the sessions. "own": our pool; "lent": our pool behind a pooler; "callers": their pool;
// "embedded".
export type SessionKind = "own" | "lent" | "callers" | "embedded";

// Our own sessions have a timeout; without a deadline it is reset to that of the role or connection
// string.
export function deadlineSettings(
  sessions: SessionKind,
  deadlineMs: number | undefined,
): LocalSetting[] {
  const timeout = { text: `set local statement_timeout to ${deadlineMs ?? "default"}` };
  if (sessions === "lent") return [{ text: "set local jit to off" }, timeout];
  return sessions === "own" && deadlineMs === undefined ? [timeout] : [];
}

export async function runInOrder(client: ClientBase, ask: Ask, statements: readonly QueryConfig[]) {
  if ("pipeline" in client && client.pipeline === true) {
    // After a failure the server refuses later statements and treats "commit" as "rollback".
    const settled = await Promise.allSettled(statements.map(ask));
    const failed = settled.find((result) => result.status === "rejected");
    if (failed && settled.at(-1)?.status === "rejected")
      await ask({ text: "rollback" }).catch(() => {});
    if (failed) throw failed.reason;
    return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }
  const results: QueryResult[] = [];
  try {
    for (const statement of statements) results.push(await ask(statement));
  } catch (error) {
    await ask({ text: "rollback" }).catch(() => {});
    throw error;
  }
  return results;
}

/**
 * Prepares a session of our pool. Planning a recall takes longer than running it, and JIT hundreds
 * of times longer, so prepared statements keep a generic plan; Citus distributes only custom ones.
 * The driver reads no dates but ISO's. After a lock, statements must see what its holder wrote.
 * @param statementTimeoutMs unless the role or connection string has one. Some proxies refuse
 * startup parameters
 * @param answerTimeoutMs longest silence of a connected server; undefined for the embedded one
 */
export function prepareSession(
  statementTimeoutMs?: number,
  answerTimeoutMs?: number,
): (client: ClientBase) => Promise<void> {
  return async (client) => {
    const statement = {
      text: `select set_config('jit', 'off', false), set_config('datestyle', 'ISO', false),
        set_config('default_transaction_isolation', 'read committed', false),
        case when not exists (select from pg_catalog.pg_extension where extname = 'citus')
          then set_config('plan_cache_mode', 'force_generic_plan', false) end,
        case when current_setting('statement_timeout') = '0' then set_config('statement_timeout', $1, false) end`,
      values: [String(statementTimeoutMs ?? 0)],
      query_timeout: answerTimeoutMs,
    };
    await client.query(statement).catch(() => {});
    if (answerTimeoutMs === undefined) return;
    const watching = {
      text: "set client_connection_check_interval to '1s'",
      query_timeout: answerTimeoutMs,
    };
    await client.query(watching as QueryConfig).catch(() => {});
  };
}
