import type { ClientBase, QueryConfig, QueryResult } from "pg";

/** A statement that changes a setting until its transaction ends. */
export type LocalSetting = QueryConfig;

/** What runs one statement on a client. */
export type Ask = (statement: QueryConfig) => Promise<QueryResult>;

/**
 * Whose sessions a pool has. "own": of a pool made here, set by `prepareSession`. "lent": of a pool made here, by a pooler
 * that lends them for one transaction. "callers": of a pool of the caller's. "embedded": of the embedded database, which
 * works on this process's only thread, so that nothing can stop a statement.
 */
export type SessionKind = "own" | "lent" | "callers" | "embedded";

/**
 * What a statement that may take `deadlineMs` needs set. In sessions of our own nothing, but where a statement has no deadline
 * and so lifts that of `prepareSession`; one of the role's or the connection string's holds.
 */
export function deadlineSettings(sessions: SessionKind, deadlineMs: number | undefined): LocalSetting[] {
  const timeout = { text: `set local statement_timeout to ${deadlineMs ?? "default"}` };
  if (sessions === "lent") return [{ text: "set local jit to off" }, timeout];
  return sessions === "own" && deadlineMs === undefined ? [timeout] : [];
}

/** Opens a transaction with `settings`. One round trip on a pipelining client, else one for each statement. */
export async function beginWith(
  client: ClientBase,
  ask: Ask,
  settings: readonly LocalSetting[],
): Promise<void> {
  await inOrder(client, ask, [{ text: "begin" }, ...settings]);
}

/**
 * The result of one statement under `settings`, in a transaction of its own. One round trip on a pipelining client and
 * where there are no settings, else one for each statement.
 */
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

/**
 * Runs the statements of a transaction; its first error, after a rollback.
 *
 * A pipelining client gets them all at once. After a failure the server refuses those that follow, and takes "commit"
 * for "rollback".
 */
async function inOrder(
  client: ClientBase,
  ask: Ask,
  statements: readonly QueryConfig[],
): Promise<QueryResult[]> {
  if (isPipelining(client)) {
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

function isPipelining(client: ClientBase): boolean {
  return "pipeline" in client && client.pipeline === true;
}

/**
 * What prepares a new session of a pool of ours, for `onConnect`, which waits for it: a second query beside a running
 * one is something pg warns of.
 *
 * It keeps one plan for a prepared statement. Recall is one large statement: planning it takes longer than running it,
 * and compiling it (JIT) hundreds of times longer. PostgreSQL would go on planning it anew, since a plan for known
 * values looks a little cheaper. Citus can distribute only plans for known values.
 *
 * A server that looks for its client stops a statement whose connection was given up; those of Windows cannot.
 *
 * @param statementTimeoutMs longest time of a statement, also when this process is gone. It is no startup parameter,
 *   since some proxies refuse those, and not set where the role, the database or the connection string has one.
 * @param answerTimeoutMs how long a server that accepted the connection may be silent; undefined for the embedded one.
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
    // A failure shows in the statement that follows on the same client.
    await client.query(statement).catch(() => {});
    if (answerTimeoutMs === undefined) return;
    const watching = { text: "set client_connection_check_interval to '1s'", query_timeout: answerTimeoutMs };
    await client.query(watching as QueryConfig).catch(() => {});
  };
}
