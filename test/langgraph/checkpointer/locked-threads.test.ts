import { randomUUID } from "node:crypto";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import pg from "pg";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { onServer, useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

/** Writers of one tenant on a pool of two connections, and a lock on the threads of some. */
function writers(statementTimeoutMs = 30_000) {
  const pool = new pg.Pool({ connectionString: inject("databaseUrl") ?? "", max: 2 });
  onTestFinished(() => pool.end());
  const memory = db.memory({ database: pool, config: { database: { statementTimeoutMs } } });
  const saver = memory.checkpointer();
  // As in a run, which claims its thread once.
  const control = {};
  const configOf = (user: string) => ({
    control,
    configurable: { thread_id: user, user_id: user, checkpoint_ns: "" },
  });
  const write = (user: string) =>
    saver.put(configOf(user), emptyCheckpoint(), { source: "loop", step: 1, parents: {} }, {});
  const lock = async (users: readonly string[]) => {
    const holder = await db.pool.connect();
    onTestFinished(() => holder.release(true));
    await holder.query("begin");
    const { rowCount } = await holder.query(
      `select from "${db.schema}".thread where thread_id = any ($1) for update`,
      [users],
    );
    expect(rowCount).toBe(users.length);
    return holder;
  };
  const read = (user: string) => saver.getTuple(configOf(user));
  return { write, lock, read };
}

const usersOf = (count: number) => Array.from({ length: count }, () => randomUUID());

describe.skipIf(!onServer())("checkpoints of locked threads (server only)", () => {
  it("Two locked threads delay no checkpoint of ten other users, and are written once they are unlocked", async () => {
    const { write, lock, read } = writers();
    const [stuck, free] = [usersOf(2), usersOf(10)];
    await Promise.all([...stuck, ...free].map(write));
    const holder = await lock(stuck);
    let settled = 0;
    const held: ReturnType<typeof write>[] = [];
    // One after the other, so that they are in different statements.
    for (const user of stuck) {
      held.push(write(user).finally(() => settled++));
      await Promise.all(free.map(write));
    }
    const written = Promise.all(held);
    written.catch(() => {});
    await Promise.all(free.map(write));
    expect(settled).toBe(0);
    await holder.query("commit");
    const last = (await written).map(({ configurable }) => configurable?.checkpoint_id);
    const stored = await Promise.all(stuck.map(read));
    expect(stored.map((tuple) => tuple?.checkpoint.id)).toEqual(last);
  });

  it("A thread that stays locked fails its own checkpoint at the deadline, and one that is forgotten meanwhile is refused", async () => {
    const { write, lock } = writers(300);
    const [user = "", gone = ""] = usersOf(2);
    await Promise.all([write(user), write(gone)]);
    const locked = { code: "DATABASE_TIMEOUT", message: expect.stringContaining(user) };
    await lock([user]);
    await expect(write(user)).rejects.toMatchObject(locked);
    const holder = await lock([gone]);
    const refused = expect(write(gone)).rejects.toMatchObject({ code: "THREAD_FORBIDDEN" });
    await holder.query(`delete from "${db.schema}".thread where thread_id = $1`, [gone]);
    await holder.query("commit");
    await refused;
  });
});
