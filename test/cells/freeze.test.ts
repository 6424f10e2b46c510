import { describe, expect, it } from "vitest";
import { useCells } from "../support/cells.js";
import { onServer } from "../support/test-database.js";

const on = useCells(2);
const frozen = 1;

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    ({ code }: { code: string }) => code,
  );

describe("a cell that is frozen", () => {
  it("refuses reads and writes in every process, until it is thawed; the others go on", async () => {
    const [memory, other] = [on.memory(), on.memory()];
    const scope = { tenantId: on.tenantIn(frozen), userId: "ana" };
    const elsewhere = { tenantId: on.tenantIn(0), userId: "ana" };
    const messages = [{ role: "user" as const, content: "Hello." }];
    const calls = [
      () => memory.recall({ scope, threadId: "t", query: "Hello?" }),
      () => other.remember({ scope, threadId: "t", messages }),
      () => other.memories.add({ text: "Likes tea." }, { scope }),
      () => memory.store({ scope }).put(["a"], "b", { c: 1 }),
      () =>
        memory
          .checkpointer()
          .getTuple({ configurable: { thread_id: "t", tenant_id: scope.tenantId, user_id: "ana" } }),
      () => memory.users.list(),
      () => memory.setup(),
    ];
    for (const call of calls) await call();
    await memory.cells.freeze(frozen);
    await memory.cells.freeze(frozen);
    for (const call of calls) expect(await codeOf(call())).toBe("CELL_MOVING");
    expect(await codeOf(on.memory().memories.list({ scope }))).toBe("CELL_MOVING");
    expect(await codeOf(memory.memories.add({ text: "Likes tea." }, { scope: elsewhere }))).toBe("done");
    expect(await codeOf(memory.upkeep())).toBe("done");
    expect((await memory.cells.list()).map(({ state }) => state)).toEqual(["up", "moving"]);
    await other.cells.thaw(frozen);
    await other.cells.thaw(frozen);
    for (const call of calls) await call();
    expect((await memory.cells.list()).map(({ state }) => state)).toEqual(["up", "up"]);
  });

  it("is one of those that there are, and of a memory of several", async () => {
    expect(await codeOf(on.memory().cells.freeze(2))).toBe("INVALID_INPUT");
    expect(await codeOf(on.memory().cells.thaw("1" as never))).toBe("INVALID_INPUT");
    expect(await codeOf(on.db.memory().cells.freeze(0))).toBe("INVALID_INPUT");
    expect(await on.db.memory().cells.list()).toEqual([{ cell: 0, schema: on.db.schema, state: "up" }]);
  });

  it("is not thawed beside another of its name", async () => {
    const memory = on.memory();
    await memory.cells.freeze(frozen);
    await on.pool.query(`create schema "${on.schema}_c001"`);
    expect(await codeOf(memory.cells.thaw(frozen))).toBe("WRONG_STATE");
    await on.pool.query(`drop schema "${on.schema}_c001"`);
    await memory.cells.thaw(frozen);
  });
});

describe.skipIf(!onServer())("freezing a cell that is written to", () => {
  const scope = () => ({ tenantId: on.tenantIn(frozen), userId: "ana" });

  it("waits for who has begun, and refuses who begins: nothing is committed once it is frozen", async () => {
    const memory = on.memory();
    const client = await on.pool.connect();
    try {
      await client.query("begin");
      await client.query(`update "${on.schema}_c001".cell set complete = true`);
      let done = false;
      const freezing = memory.cells.freeze(frozen).then(() => {
        done = true;
      });
      await expect.poll(async () => (await on.memory().cells.list())[frozen]?.state).toBe("moving");
      expect(done).toBe(false);
      // What it does next finds nothing under that name.
      const next = client.query(`update "${on.schema}_c001".migration set name = name`);
      await expect(next).rejects.toMatchObject({ code: "42P01" });
      await client.query("rollback");
      await freezing;
    } finally {
      client.release();
    }
    await memory.cells.thaw(frozen);
  });

  it("gives up who waits for too long, and can be done again", async () => {
    const memory = on.memory();
    const client = await on.pool.connect();
    await client.query("begin");
    await client.query(`update "${on.schema}_c001".cell set complete = true`);
    expect(await codeOf(memory.cells.freeze(frozen, { timeoutMs: 50 }))).toBe("BUSY");
    await client.query("rollback");
    client.release();
    await memory.cells.freeze(frozen);
    await memory.cells.thaw(frozen);
  });

  it("loses nothing that was told to be written, however many write at once", async () => {
    const memory = on.memory();
    const written = new Set<string>();
    let stopped = false;
    const write = async (writer: number) => {
      for (let n = 0; !stopped; n++) {
        const text = `Writer ${writer} likes number ${n}.`;
        const threadId = `${writer}-${n}`;
        await memory
          .record({ scope: scope(), threadId, messages: [{ role: "user", content: text }] })
          .then(() => written.add(threadId))
          .catch(() => {});
      }
    };
    const writers = [1, 2, 3, 4].map(write);
    await expect.poll(() => written.size).toBeGreaterThan(20);
    await memory.cells.freeze(frozen);
    const threads = `select thread_id as id from "${on.schema}_c001_moving".thread where thread_id ~ '^[1-4]-'`;
    const { rows: atOnce } = await on.pool.query<{ id: string }>(threads);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { rows: later } = await on.pool.query<{ id: string }>(threads);
    stopped = true;
    await Promise.all(writers);
    expect(later.length).toBe(atOnce.length);
    expect(new Set(later.map(({ id }) => id))).toEqual(written);
    await memory.cells.thaw(frozen);
  });
});
