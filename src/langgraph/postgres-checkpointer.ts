import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { ClientBase, Pool } from "pg";
import type { Database } from "../database/database.js";

/** LangGraph's own Postgres checkpointer on the memory's pool and schema. */
export function createCheckpointer(database: Database): PostgresSaver {
  return new PostgresSaver(database.pool, undefined, { schema: database.schemaName });
}

/**
 * Creates the checkpointer's tables on `client`.
 *
 * `PostgresSaver.setup` takes its connection from a pool and has no lock, so two processes starting together
 * fail. Here it gets the one connection that holds the set-up lock.
 */
export async function setUpCheckpointer(client: ClientBase, schemaName: string): Promise<void> {
  const pool = {
    connect: async () => ({
      // It asks for a schema that is there by now; asking would demand CREATE on the whole database.
      query: async (text: string, values?: unknown[]) =>
        text.startsWith("CREATE SCHEMA") ? { rows: [] } : client.query(text, values),
      release: () => {},
    }),
  };
  await new PostgresSaver(pool as unknown as Pool, undefined, { schema: schemaName }).setup();
}
