import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { deltaChannelHistoryTests, specTest } from "@langchain/langgraph-checkpoint-validation";
import { useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

/** LangGraph's own suites, each part of them on empty tables. */
const initializer = {
  checkpointerName: "memory.checkpointer()",
  async createCheckpointer(): Promise<PostgresSaver> {
    return db.memory().checkpointer();
  },
  async destroyCheckpointer(): Promise<void> {
    for (const table of ["checkpoints", "checkpoint_blobs", "checkpoint_writes"])
      await db.pool.query(`delete from "${db.schema}".${table}`);
  },
};

specTest(initializer);
deltaChannelHistoryTests(initializer);
