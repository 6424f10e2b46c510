import { HumanMessage } from "@langchain/core/messages";
import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };

/** Every message's seq and id. */
async function transcript(threadId: string): Promise<{ seq: number; id: string }[]> {
  const { rows } = await db.pool.query(
    `select m.seq, m.message_id as id from "${db.schema}".message m
     join "${db.schema}".thread t on t.id = m.thread_ref where t.thread_id = $1 order by m.seq`,
    [threadId],
  );
  return rows;
}

/** Seqs 0, 1, 2…; each batch's messages in order and side by side. */
function expectWhole(rows: { seq: number; id: string }[], messages: number): void {
  expect(rows.map((row) => row.seq)).toEqual(Array.from({ length: messages }, (_, seq) => seq));
  expect(new Set(rows.map((row) => row.id)).size).toBe(messages);
  const batches = new Map<string, number[]>();
  for (const { seq, id } of rows) {
    const batch = id.slice(0, id.lastIndexOf("/"));
    batches.set(batch, [...(batches.get(batch) ?? []), seq]);
  }
  for (const seqs of batches.values())
    expect(seqs).toEqual(seqs.map((_, index) => seqs[0]! + index));
}

const batch = (writer: number, number: number) =>
  [0, 1, 2].map((part) => new HumanMessage({ id: `${writer}/${number}/${part}`, content: "x" }));

describe("concurrent writers", () => {
  it("Twenty writers on one thread leave no gap, no duplicate and no split batch", async () => {
    const connectionString = inject("databaseUrl");
    const pools = Array.from({ length: 20 }, () =>
      connectionString === null ? db.pool : new pg.Pool({ connectionString, max: 1 }),
    );
    await Promise.all(
      pools.map(async (pool, writer) => {
        const memory = db.memory({ database: pool });
        for (let number = 0; number < 5; number++) {
          await memory.record({ scope, threadId: "twenty", messages: batch(writer, number) });
        }
      }),
    );
    expectWhole(await transcript("twenty"), 20 * 5 * 3);
    if (connectionString !== null) await Promise.all(pools.map((pool) => pool.end()));
  });

  it("Twenty writers that send the same messages record them once", async () => {
    const memory = db.memory();
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        memory.record({ scope, threadId: "same", messages: batch(0, 0) }),
      ),
    );
    expect(results.map((result) => result.recorded).sort()).toEqual([...Array(19).fill(0), 3]);
    expect(results.every((result) => result.lastSeq === 2)).toBe(true);
    expectWhole(await transcript("same"), 3);
  });

  it("Writers that begin twenty threads of a new user create each thread once", async () => {
    const memory = db.memory();
    const newcomer = { tenantId: "new", userId: "ben" };
    await Promise.all(
      Array.from({ length: 40 }, (_, writer) =>
        memory.record({
          scope: newcomer,
          threadId: `newcomer ${writer % 20}`,
          messages: batch(writer, 0),
        }),
      ),
    );
    const threads = await memory.threads.list({ scope: newcomer });
    expect(threads).toHaveLength(20);
    expect(threads.every((thread) => thread.messages === 6)).toBe(true);
  });
});
