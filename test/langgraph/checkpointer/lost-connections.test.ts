import { randomUUID } from "node:crypto";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import pg from "pg";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { createMemory } from "../../../src/index.js";
import { useChildScripts } from "../../support/child-scripts.js";
import { silentLogger } from "../../support/silent-logger.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

/** A checkpointer with its own connections, and a function that cuts them. */
function cuttable() {
  const name = `cut_${randomUUID().slice(0, 8)}`;
  const url = new URL(inject("databaseUrl") ?? "");
  url.searchParams.set("application_name", name);
  const memory = createMemory({ database: url.href, schema: db.schema, logger: silentLogger });
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
    return memory.close();
  });
  const gone = new Set<number>();
  /** Waits for a new connection that waits for a lock, and cuts it. */
  const cutWaiting = async () => {
    for (const before = gone.size; gone.size === before && !isOver; ) {
      const { rows } = await db.pool.query<{ pid: number }>(
        `select pid, pg_terminate_backend(pid) from pg_stat_activity
         where application_name = $1 and wait_event_type = 'Lock' and pid <> all ($2)`,
        [name, [...gone]],
      );
      for (const { pid } of rows) gone.add(pid);
    }
  };
  return { memory, saver: memory.checkpointer(), cutWaiting };
}

/** Starts `work` while `table` is locked, cuts its connection `times` in a row, then unlocks. */
async function cutAt<Result>(
  { cutWaiting }: ReturnType<typeof cuttable>,
  { table, reads = false, times = 1 }: { table: string; reads?: boolean; times?: number },
  work: () => Promise<Result>,
): Promise<Result> {
  const other = await db.pool.connect();
  try {
    const mode = reads ? "access exclusive" : "share row exclusive";
    await other.query(`begin; lock table "${db.schema}".${table} in ${mode} mode`);
    const result = work();
    result.catch(() => {});
    for (let left = times; left > 0; left--) await cutWaiting();
    await other.query("rollback");
    return await result;
  } finally {
    other.release();
  }
}

describe.skipIf(!onServer())("lost connections of the checkpointer (server only)", () => {
  it("A lost connection is replaced for every call of the checkpointer, and writes are stored once", async () => {
    const cut = cuttable();
    const { saver } = cut;
    const configurable = { thread_id: randomUUID(), checkpoint_ns: "" };
    const checkpoint = {
      v: 4,
      id: "1ef4f797-8335-6428-8001-8a1503f9b875",
      ts: new Date().toISOString(),
      channel_values: { said: "hello" },
      channel_versions: { said: 1 },
      versions_seen: {},
    };
    const metadata = { source: "loop" as const, step: 1, parents: {} };
    const at = await cutAt(cut, { table: "checkpoints" }, () =>
      saver.put({ configurable }, checkpoint, metadata, { said: 1 }),
    );
    await cutAt(cut, { table: "checkpoint_writes" }, () =>
      saver.putWrites(at, [["said", "more"]], "task"),
    );
    const reading = { table: "checkpoints", reads: true };
    const found = await cutAt(cut, reading, () => saver.getTuple({ configurable }));
    expect(found).toMatchObject({
      checkpoint: { channel_values: { said: "hello" } },
      pendingWrites: [["task", "said", "more"]],
    });
    const listed = await cutAt(cut, reading, async () => {
      const tuples = [];
      for await (const tuple of saver.list({ configurable })) tuples.push(tuple);
      return tuples;
    });
    expect(listed).toEqual([found]);
  });

  it("Repeatedly lost connections are reported, but do not pause memory while the server answers", async () => {
    const cut = cuttable();
    const configurable = { thread_id: randomUUID(), checkpoint_ns: "", checkpoint_id: "none" };
    const writing = () => cut.saver.putWrites({ configurable }, [["said", "more"]], "task");
    await expect(cutAt(cut, { table: "checkpoint_writes", times: 6 }, writing)).rejects.toThrow(
      expect.objectContaining({ code: "DATABASE_UNAVAILABLE" }),
    );
    // Three seconds without an answer are tried by a probe, at once.
    await expect.poll(() => cut.memory.databaseStatus().state).toBe("up");
  });
});

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

const start = useChildScripts();

/** How each of 36 runs ended, in a process that ended well. */
async function endsOf(...args: string[]): Promise<string[]> {
  const child = start("fail-writes", args);
  const code = await child.exitCode;
  const [ends = "", last] = child.lines;
  expect({ code, last, stderr: child.stderr() }).toEqual({ code: 0, last: "goes on", stderr: "" });
  return ends.split(" ");
}

describe("checkpoint writes that fail, in each durability and by each call", () => {
  it("A user who is forgotten during a run fails that run's checkpoint writes and nothing else", async () =>
    expect(await endsOf("forgotten", ":memory:")).toEqual(Array(36).fill("THREAD_FORBIDDEN")));

  describe.skipIf(!onServer())("(server only)", () => {
    it("A database that goes away fails the checkpoint writes of runs under way and nothing else", async () => {
      const ends = await endsOf("away", inject("databaseUrl") ?? "", db.schema);
      expect(ends).toEqual(
        Array(36).fill(expect.stringMatching(/^DATABASE_(UNAVAILABLE|TIMEOUT)$/)),
      );
    });
  });
});
