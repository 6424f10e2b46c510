import { randomUUID } from "node:crypto";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import pg from "pg";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { onServer, useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

/** A checkpointer on two connections, whose writes claim each thread once, as in a run. */
async function writers(count: number, deadlineMs = 30_000) {
  const connectionString = inject("databaseUrl") ?? "";
  const pool = new pg.Pool({ connectionString, max: 2, connectionTimeoutMillis: deadlineMs });
  const holder = await db.pool.connect();
  onTestFinished(() => {
    holder.release(true);
    return pool.end();
  });
  const config = { database: { statementTimeoutMs: deadlineMs } };
  const memory = db.memory({ database: pool, config });
  const control = {};
  const write = (id: string, said: unknown = "") => {
    const configurable = { thread_id: id, user_id: id };
    const metadata = { source: "loop" as const, step: 1, parents: {} };
    const checkpoint = { ...emptyCheckpoint(), channel_values: { said } };
    const saver = memory.checkpointer();
    return saver.put({ configurable, control } as object, checkpoint, metadata, { said: 1 });
  };
  const users = Array.from({ length: count }, () => randomUUID());
  await Promise.all(users.map((user) => write(user)));
  const thread = `"${db.schema}".thread where thread_id = any ($1)`;
  const lock = async (ids: readonly string[]) => {
    await holder.query("begin");
    await holder.query(`select from ${thread} for update`, [ids]);
  };
  return { memory, users, write, lock, holder, thread };
}

describe.skipIf(!onServer())("checkpoints that are delayed (server only)", () => {
  it("Two locked threads delay no checkpoint of ten other users, and are written once they are unlocked", async () => {
    const { users, write, lock, holder } = await writers(12);
    const [stuck, free] = [users.slice(0, 2), users.slice(2)];
    await lock(stuck);
    let settled = 0;
    const written: Promise<unknown>[] = [];
    // One after the other, so that they are in different statements.
    for (const user of stuck) {
      written.push(write(user).finally(() => settled++));
      await Promise.all(free.map((user) => write(user)));
    }
    await Promise.all(free.map((user) => write(user)));
    expect(settled).toBe(0);
    await holder.query("commit");
    await Promise.all(written);
  });

  it("A thread that stays locked fails its own checkpoint at the deadline, and one that is forgotten meanwhile is refused", async () => {
    const { users, write, lock, holder, thread } = await writers(1, 2_000);
    const [user = ""] = users;
    await lock(users);
    const locked = { code: "DATABASE_TIMEOUT", message: expect.stringContaining(user) };
    await expect(write(user)).rejects.toMatchObject(locked);
    await holder.query(`delete from ${thread}`, [users]);
    const refused = expect(write(user)).rejects.toMatchObject({ code: "THREAD_FORBIDDEN" });
    await holder.query("commit");
    await refused;
  });

  it("A checkpoint whose serialization blocks the process beyond all deadlines fails no write of other users", async () => {
    const { memory, write } = await writers(1, 1_000);
    const large = {
      toJSON() {
        for (const begun = performance.now(); performance.now() - begun < 3_000; );
        return "60 MB";
      },
    };
    for (let round = 0; round < 3; round++)
      await Promise.all([..."abcdefghijklmno", large].map((said) => write(randomUUID(), said)));
    expect(memory.databaseStatus().state).toBe("up");
  });
});
