import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it, vi } from "vitest";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { newAddress, textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();

/** Locks rows in the order of forgetting, the second once `write` waits for the first. */
async function deadlocked<Result>(
  threadId: string,
  write: () => Promise<Result>,
  locks: readonly ["thread", "owner"] | readonly ["owner", "thread"],
): Promise<Result> {
  const { schema } = db;
  const client = await db.pool.connect();
  const lock = (table: "thread" | "owner") =>
    client.query(
      `select from "${schema}".${table} where id = (
         select ${table === "thread" ? "id" : "owner_ref"} from "${schema}".thread where thread_id = $1
       ) for update`,
      [threadId],
    );
  try {
    await client.query("begin");
    // Whoever has waited for longer is stopped.
    await client.query("set local deadlock_timeout = '1min'");
    await lock(locks[0]);
    const written = write();
    written.catch(() => {});
    const isWaiting = () =>
      db.pool.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%' || $1 || '%'`,
        [schema],
      );
    await vi.waitFor(async () => expect((await isWaiting()).rowCount).toBe(1), 10_000);
    await lock(locks[1]);
    await client.query("commit");
    return await written;
  } finally {
    await client.query("rollback");
    client.release();
  }
}

describe.skipIf(!onServer())("deadlocks (server only)", () => {
  it("A turn is recorded although a deadlock stops its statement", async () => {
    const memory = db.memory();
    const thread = newAddress();
    const say = (id: string) =>
      memory.remember({ ...thread, messages: [new HumanMessage({ id, content: `I am ${id}.` })] });
    await say("first");
    const { recorded } = await deadlocked(thread.threadId, () => say("second"), [
      "owner",
      "thread",
    ]);
    expect(recorded).toBe(1);
    expect(await memory.threads.messages(thread)).toHaveLength(2);
  });

  it("Memories are written once although a deadlock stops their transaction", async () => {
    const memory = db.memory();
    const thread = newAddress();
    await memory.record({ ...thread, messages: [new HumanMessage("I keep bees.")] });
    const text = "The user keeps bees.";
    const source = { threadId: thread.threadId, seqs: [0] };
    const add = () => memory.memories.add({ scope: thread.scope, memories: { text, source } });
    const [outcome] = await deadlocked(thread.threadId, add, ["thread", "owner"]);
    expect(outcome).toMatchObject({ outcome: "created", problems: [] });
    expect(await textsOf(memory, thread)).toEqual([text]);
  });
});
