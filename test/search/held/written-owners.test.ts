import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import type { Memory } from "../../../src/index.js";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { brokenInvariants } from "../../support/broken-invariants.js";
import { useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();
const open = (how: Parameters<typeof db.memory>[0] = {}) =>
  db.memory({ embeddings: new HashingEmbeddings({ dimensions: 64 }), ...how });

beforeAll(() => open().setup());

/** Adds so many memories one by one, each of which is new. */
async function addEach(memory: Memory, scope: { userId: string }, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const [written] = await memory.memories.add(
      { text: `Likes ${randomUUID()} ${randomUUID()}.` },
      { scope },
    );
    expect(written?.outcome).toBe("created");
  }
}

const heldOf = (memory: Memory) =>
  memory.held().list.map(({ scope, memories }) => [scope.userId, memories] as const);

describe("an owner who is written to", () => {
  it("is held after twenty writes, without any recall, and not after batches", async () => {
    const memory = open();
    const [often, once] = [{ userId: randomUUID() }, { userId: randomUUID() }];
    const batch = () => Array.from({ length: 30 }, () => ({ text: `Likes ${randomUUID()}.` }));
    for (let at = 0; at < 3; at++) await memory.memories.add(batch(), { scope: once });
    await addEach(memory, often, 20);
    await memory.idle();
    expect(heldOf(memory)).toEqual([]);
    await addEach(memory, often, 1);
    await memory.idle();
    // Taken in beside the add, with it or without.
    expect(heldOf(memory)).toEqual([[often.userId, expect.any(Number)]]);
    expect(memory.held().served).toEqual({ held: 0, statement: 0 });
  });

  it("is held as it is, however much is written without a recall", async () => {
    const memory = open();
    const scope = { userId: randomUUID() };
    await addEach(memory, scope, 21);
    await memory.idle();
    await addEach(memory, scope, 160);
    const [[, memories] = []] = heldOf(memory);
    expect(memories).toBeGreaterThan(181 - 60);
    for (let at = 0; at < 7; at++) {
      const batch = Array.from({ length: 100 }, () => ({ text: `Likes ${randomUUID()}.` }));
      await memory.memories.add(batch, { scope });
    }
    expect(heldOf(memory)[0]?.[1]).toBeGreaterThan(881 - 500);
    const [last] = await memory.memories.list({ scope, limit: 1 });
    const [same] = await memory.memories.add({ text: last?.text ?? "" }, { scope });
    expect(same).toMatchObject({ outcome: "merged", id: last?.id });
    expect(await brokenInvariants(db)).toEqual([]);
  });

  it("is not held where nothing is compared, or nobody may be held", async () => {
    const scope = { userId: randomUUID() };
    for (const memory of [db.memory(), open({ config: { retrieval: { held: false } } })]) {
      await addEach(memory, scope, 25);
      await memory.idle();
      expect(heldOf(memory)).toEqual([]);
    }
  });

  it("is written to also where the copy cannot be brought up to date: it is let go", async () => {
    const memory = open();
    const scope = { userId: randomUUID() };
    await addEach(memory, scope, 21);
    await memory.idle();
    expect(heldOf(memory)).toHaveLength(1);
    const { rowCount } = await db.pool.query(
      `update "${db.schema}".owner set reload_tick = tick where user_id = $1`,
      [scope.userId],
    );
    expect(rowCount).toBe(1);
    await addEach(memory, scope, 60);
    expect(memory.held().letGo.dropped).toBe(1);
    expect(await brokenInvariants(db)).toEqual([]);
  });
});
