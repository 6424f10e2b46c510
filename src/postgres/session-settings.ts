import type { ClientBase, QueryConfig, QueryResult } from "pg";

/** A statement that changes a setting until its transaction ends. */
export type LocalSetting = QueryConfig;

export type Ask = (statement: QueryConfig) => Promise<QueryResult>;

// "own": of our pool; "lent": that behind a pooler; "callers": of theirs; "embedded": nothing can stop a statement.
export type SessionKind = "own" | "lent" | "callers" | "embedded";

// Our own sessions need one only without a deadline, to restore the role's or connection string's timeout.
export function deadlineSettings(sessions: SessionKind, deadlineMs: number | undefined): LocalSetting[] {
  const timeout = { text: `set local statement_timeout to ${deadlineMs ?? "default"}` };
  if (sessions === "lent") return [{ text: "set local jit to off" }, timeout];
  return sessions === "own" && deadlineMs === undefined ? [timeout] : [];
}

/** Opens a transaction. One round trip on a pipelining client, else one for each statement. */
export async function beginWith(client: ClientBase, ask: Ask, settings: readonly LocalSetting[]): Promise<void> {
  await inOrder(client, ask, [{ text: "begin" }, ...settings]);
}

/** The result of one statement in its own transaction with `settings`. */
export async function queryWith(
  client: ClientBase,
  ask: Ask,
  settings: readonly LocalSetting[],
  statement: QueryConfig,
): Promise<QueryResult> {
  if (settings.length === 0) return ask(statement);
  const results = await inOrder(client, ask, [{ text: "begin" }, ...settings, statement, { text: "commit" }]);
  return results.at(-2) as QueryResult;
}

async function inOrder(client: ClientBase, ask: Ask, statements: readonly QueryConfig[]): Promise<QueryResult[]> {
  if ("pipeline" in client && client.pipeline === true) {
    // After a failure the server refuses the rest, and takes "commit" for "rollback".
    const settled = await Promise.allSettled(statements.map(ask));
    const failed = settled.find((result) => result.status === "rejected");
    if (failed && settled.at(-1)?.status === "rejected") await ask({ text: "rollback" }).catch(() => {});
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
 * Prepares a new session of our pool, for `onConnect`. Planning a recall takes longer than running it, and JIT hundreds
 * of times longer: each prepared statement keeps one generic plan, except on Citus, which distributes only custom ones.
 * A server that checks its client stops a statement of a lost connection.
 * @param statementTimeoutMs the role's or connection string's wins. No startup parameter, which some proxies refuse
 * @param answerTimeoutMs how long a connected server may be silent; undefined for the embedded one
 */
export function prepareSession(
  statementTimeoutMs?: number,
  answerTimeoutMs?: number,
): (client: ClientBase) => Promise<void> {
  return async (client) => {
    const statement = {
      text: `select set_config('jit', 'off', false),
        case when not exists (select from pg_catalog.pg_extension where extname = 'citus')
          then set_config('plan_cache_mode', 'force_generic_plan', false) end,
        case when current_setting('statement_timeout') = '0' then set_config('statement_timeout', $1, false) end`,
      values: [String(statementTimeoutMs ?? 0)],
      ...(answerTimeoutMs !== undefined && { query_timeout: answerTimeoutMs }),
    };
    // The next statement on the client reports a failure.
    await client.query(statement).catch(() => {});
    if (answerTimeoutMs === undefined) return;
    const watching = { text: "set client_connection_check_interval to '1s'", query_timeout: answerTimeoutMs };
    await client.query(watching as QueryConfig).catch(() => {});
  };
}
