import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { ClientBase, Pool } from "pg";

/** `PostgresSaver.setup` has no lock, so concurrent starts fail; `client` holds the set-up lock. */
export async function setUpCheckpointer(client: ClientBase, schemaName: string): Promise<void> {
  const pool = {
    connect: async () => ({
      // Creating an existing schema needs CREATE on the database.
      query: async (text: string, values?: unknown[]) =>
        text.startsWith("CREATE SCHEMA") ? { rows: [] } : queryOrUndo(client, text, values),
      release: () => {},
    }),
  };
  await new PostgresSaver(pool as unknown as Pool, undefined, { schema: schemaName }).setup();
  // Named as in LangGraph for Python: a step's writes apply in the order of their tasks' paths.
  const { rowCount } = await client.query(
    "select from pg_catalog.pg_attribute where attrelid = to_regclass($1) and attname = 'task_path'",
    [`"${schemaName}".checkpoint_writes`],
  );
  if (rowCount === 0) {
    await client.query(
      `alter table "${schemaName}".checkpoint_writes add column if not exists task_path text not null default ''`,
    );
  }
}

/** `setup` detects missing tables by failing statements, which must not end the transaction. */
async function queryOrUndo(client: ClientBase, text: string, values: unknown[] | undefined) {
  await client.query("savepoint checkpointer");
  try {
    return await client.query(text, values);
  } catch (error) {
    await client.query("rollback to savepoint checkpointer");
    throw error;
  } finally {
    await client.query("release savepoint checkpointer").catch(() => {});
  }
}
