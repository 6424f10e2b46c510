import { randomUUID } from "node:crypto";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { createMemory } from "../../../src/index.js";
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
