import type { ClientBase, QueryConfig, QueryResult } from "pg";

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
