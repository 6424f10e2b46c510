import { randomUUID } from "node:crypto";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import pg from "pg";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

describe.skipIf(!onServer())("a process that is blocked (server only)", () => {
  it("A checkpoint whose serialization blocks the process beyond all deadlines fails no write of other users", async () => {
    const deadlineMs = 1_000;
    const pool = new pg.Pool({
      connectionString: inject("databaseUrl") ?? "",
      max: 4,
      connectionTimeoutMillis: deadlineMs,
    });
    onTestFinished(() => pool.end());
    const config = { database: { statementTimeoutMs: deadlineMs } };
    const memory = db.memory({ database: pool, config });
    const saver = memory.checkpointer();
    const write = (said: unknown) => {
      const user = randomUUID();
      const configurable = { thread_id: user, user_id: user, checkpoint_ns: "" };
      const checkpoint = { ...emptyCheckpoint(), channel_values: { said } };
      const metadata = { source: "loop" as const, step: 1, parents: {} };
      return saver.put({ configurable }, checkpoint, metadata, { said: 1 });
    };
    let blocks = 0;
    const large = {
      toJSON() {
        blocks++;
        for (const begun = performance.now(); performance.now() - begun < 3 * deadlineMs; );
        return "60 MB";
      },
    };
    for (let round = 0; round < 3; round++) {
      const small = Array.from({ length: 20 }, () => write("hello"));
      const written = Promise.all([...small, write(large), ...small.map(() => write("hello"))]);
      expect(await written).toHaveLength(41);
    }
    expect(blocks).toBe(3);
    expect(memory.databaseStatus()).toMatchObject({ state: "up", silentMs: null });
  });
});
