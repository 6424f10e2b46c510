import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { deltaChannelHistoryTests, specTest } from "@langchain/langgraph-checkpoint-validation";
import { useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();
const schemas = new Map<PostgresSaver, string>();

/** LangGraph's own suites, each part of them in a schema of its own. */
const initializer = {
  checkpointerName: "memory.checkpointer()",
  async createCheckpointer(): Promise<PostgresSaver> {
    const schema = `${db.schema} conformance ${schemas.size}`;
    const memory = db.memory({ schema });
    await memory.setup();
    const checkpointer = memory.checkpointer();
    schemas.set(checkpointer, schema);
    return checkpointer;
  },
  async destroyCheckpointer(checkpointer: PostgresSaver): Promise<void> {
    await db.pool.query(`drop schema "${schemas.get(checkpointer)}" cascade`);
  },
};

specTest(initializer);
deltaChannelHistoryTests(initializer);
