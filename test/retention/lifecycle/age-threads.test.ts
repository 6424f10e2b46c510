import { randomUUID } from "node:crypto";
import { Command } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { Memory } from "../../../src/memory.js";
import type { Scope } from "../../../src/scope/scope.js";
import { OfflineChatModel, ScriptedChatModel } from "../../../src/testing/index.js";
import { lines, rounds, say } from "../../langgraph/conversation.js";
import { agentIn } from "../../langgraph/ways.js";
import { cloneThread } from "../../support/clone-thread.js";
import { useIsolatedDatabase } from "../../support/isolated-database.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";
import { travelGraph } from "../../support/travel-graph.js";

const db = useTestDatabase();
const day = 86_400_000;
const begun = new Date("2031-01-01T12:00:00Z").getTime();

/** A memory that deletes threads after 30 days, and the threads of a new tenant. */
function idling(config: object = { threads: { idleDays: 30 } }, options: object = {}) {
  let now = begun;
  const memory = db.memory({ ...options, config, clock: () => new Date(now) });
  const scope = { tenantId: randomUUID(), userId: "ana" };
  return {
    memory,
    scope,
    passed(days: number) {
      now = begun + days * day;
    },
    say: (threadId: string, text = "The boat is called Wind.") =>
      memory.remember({ scope, threadId, messages: [{ role: "user", content: text }] }),
  };
}

const upkeep = async (memory: Memory) => {
  await memory.upkeep({ kinds: ["purge"] });
  await memory.idle();
};
const threadsOf = async (memory: Memory, scope: Scope) =>
  (await memory.threads.list({ scope })).map(({ threadId }) => threadId).toSorted();

async function count(table: string, where: string, ...values: unknown[]): Promise<number> {
  const statement = `select count(*)::int as count from "${db.schema}".${table} where ${where}`;
  return (await db.pool.query(statement, values)).rows[0].count;
}

describe("threads.idleDays", () => {
  it("Upkeep deletes what nobody went on with, with its checkpoints, and leaves memories", async () => {
    const { memory, scope, passed, say } = idling();
    const graph = travelGraph(memory.checkpointer());
    const old = { configurable: { thread_id: `old of ${scope.tenantId}`, ...scope } };
    await graph.invoke({ input: "one" }, old);
    await say(old.configurable.thread_id);
    await memory.memories.add({
      scope,
      memories: {
        text: "The user's boat is called Wind.",
        source: { threadId: old.configurable.thread_id, seqs: [0] },
      },
    });
    passed(20);
    await say("new");
    passed(30);
    await upkeep(memory);
    expect(await threadsOf(memory, scope)).toHaveLength(2);
    passed(31);
    await upkeep(memory);
    expect(await threadsOf(memory, scope)).toEqual(["new"]);
    for (const table of ["checkpoints", "checkpoint_blobs", "checkpoint_writes"])
      expect(await count(table, "thread_id = $1", old.configurable.thread_id)).toBe(0);
    expect(await count("message", `thread_ref not in (select id from "${db.schema}".thread)`)).toBe(
      0,
    );
    const [kept] = await memory.memories.list({ scope });
    expect(kept).toMatchObject({ text: "The user's boat is called Wind.", source: null });
    expect(
      await count(
        "event",
        "tenant_id = $1 and step = 'lifecycle' and op = 'forget' and detail like '%message=1%'",
        scope.tenantId,
      ),
    ).toBe(1);
    // It goes on as a new one.
    await say(old.configurable.thread_id, "Back again.");
    expect((await graph.invoke({ input: "two" }, old)).log).toContain("run 1");
    expect(await threadsOf(memory, scope)).toHaveLength(2);
  });

  it("Threads stay by default", async () => {
    const { memory, scope, passed, say } = idling({});
    await say("kept");
    passed(10_000);
    await upkeep(memory);
    expect(await threadsOf(memory, scope)).toEqual(["kept"]);
  });

  it("An idle thread waits for work that is due, failed or was given up, and for consents", async () => {
    const { memory, scope, passed, say } = idling();
    for (const id of ["due", "failed", "given up", "done", "asked", "agent's"]) await say(id);
    await say("agent's/mnemograph:delegated/cook");
    const ofThread = `(select id from "${db.schema}".thread where thread_id = $1 and tenant_id = $2)`;
    const work = async (threadId: string, column: string, value: string) => {
      await db.pool.query(
        `insert into "${db.schema}".work (kind, thread_ref, done_until, ${column}) values ('notes', ${ofThread}, 0, ${value})`,
        [threadId, scope.tenantId],
      );
    };
    await work("due", "retry_at", "'2031-01-01'");
    await work("failed", "error", "'no answer'");
    await work("given up", "given_up_at", "'2031-01-01'");
    await work("agent's/mnemograph:delegated/cook", "retry_at", "'2031-01-01'");
    await work("done", "done_at", "'2031-01-01'");
    await memory.memories.add({
      scope,
      memories: {
        text: "Lives in Porto.",
        category: "profile",
        key: "city",
        value: "Porto",
        source: { threadId: "asked", seqs: [0] },
      },
    });
    expect(await memory.consents.list({ scope, status: ["pending"] })).toHaveLength(1);
    passed(31);
    await upkeep(memory);
    expect(await threadsOf(memory, scope)).toEqual([
      "agent's",
      "asked",
      "due",
      "failed",
      "given up",
    ]);
    await db.pool.query(`delete from "${db.schema}".work where kind = 'notes'`);
    await upkeep(memory);
    expect(await threadsOf(memory, scope)).toEqual(["asked"]);
    expect(await count("thread", "tenant_id = $1", scope.tenantId)).toBe(1);
  });

  it("A thread stays while a graph goes on with it, also during a run and without a message", async () => {
    const config = { threads: { idleDays: 30 } };
    let now = Date.now() - 40 * day;
    const memory = db.memory({ config, clock: () => new Date(now) });
    const scope = { userId: randomUUID() };
    const thread = { configurable: { thread_id: randomUUID(), user_id: scope.userId } };
    const graph = travelGraph(memory.checkpointer());
    const bare = { configurable: { ...thread.configurable, thread_id: randomUUID() } };
    await graph.invoke({ input: "one" }, bare);
    const model = new ScriptedChatModel({
      replies: async (_, call) => {
        if (call === 1) await upkeep(memory);
        return `answer ${call + 1}`;
      },
    });
    const agent = await agentIn("withMemory", { memory, model });
    await say(agent, "question 1", thread);
    now = Date.now();
    const { log } = await graph.invoke({ input: "two" }, bare);
    const { messages } = await say(agent, "question 2", thread);
    expect(lines(messages)).toEqual(rounds(1, 2));
    expect((await graph.getState(bare)).values.log).toEqual(log);
  });

  it("An idle thread goes after its facts were learned", async () => {
    const config = { preset: "ledger", threads: { idleDays: 30 }, memories: { extract: true } };
    const { memory, scope, passed, say } = idling(config, { model: new OfflineChatModel() });
    await say("learned", "I am allergic to peanuts.");
    await memory.idle();
    passed(31);
    await memory.upkeep({ kinds: ["facts", "summaries", "purge"] });
    await memory.idle();
    await upkeep(memory);
    expect(await threadsOf(memory, scope)).toEqual([]);
    expect(await memory.query({ scope, query: "Allergic to what?" })).toHaveLength(1);
  });

  it("Upkeep takes the threads of each tenant in turn", async () => {
    const many = idling();
    const few = idling();
    for (let at = 0; at < 30; at++) await many.say(`t${at}`);
    many.passed(1);
    few.passed(1);
    await few.say("only");
    many.passed(40);
    await upkeep(many.memory);
    const { rows } = await db.pool.query(
      `select tenant_id from "${db.schema}".event where step = 'lifecycle' and op = 'forget' and tenant_id = any ($1) order by id`,
      [[many.scope.tenantId, few.scope.tenantId]],
    );
    expect(rows).toHaveLength(31);
    expect(rows.findIndex(({ tenant_id: id }) => id === few.scope.tenantId)).toBeLessThan(2);
  });

  it.runIf(onServer())("A thread that gets a message at that moment stays", async () => {
    const { memory, scope, passed, say } = idling();
    await say("woken");
    passed(31);
    const client = await db.pool.connect();
    try {
      await client.query("begin");
      await client.query(
        `update "${db.schema}".thread set last_activity_at = '2031-02-01' where tenant_id = $1`,
        [scope.tenantId],
      );
      const done = upkeep(memory);
      await expect.poll(lockWaits).toBeGreaterThan(0);
      await client.query("commit");
      await done;
    } finally {
      client.release();
    }
    expect(await threadsOf(memory, scope)).toEqual(["woken"]);
  });
});

describe.runIf(onServer())("threads of isolated tenants", () => {
  const isolated = useIsolatedDatabase(db);

  it("Idle threads of isolated tenants are deleted by the role that owns the tables", async () => {
    let now = begun;
    const clock = () => new Date(now);
    const config = { threads: { idleDays: 30 }, checkpoints: { keep: 1 } };
    const memory = isolated.memory({ clock, config });
    const scopes = ["north", "south"].map((tenantId) => ({ tenantId, userId: "ana" }));
    const messages = [{ role: "user" as const, content: "The boat is called Wind." }];
    for (const scope of scopes) await memory.remember({ scope, threadId: "t", messages });
    now += 31 * day;
    await upkeep(isolated.memory({ role: "owner", clock, config }));
    for (const scope of scopes) expect(await threadsOf(memory, scope)).toEqual([]);
  });
});

async function lockWaits(): Promise<number> {
  const { rows } = await db.pool.query(
    "select count(*)::int as count from pg_locks where not granted",
  );
  return rows[0].count;
}

describe("checkpoints.keep", () => {
  const config = { checkpoints: { keep: 3 } };
  it("A thread goes on, its interrupt is answered, and each branch ends where it did", async () => {
    const { memory, scope } = idling(config);
    const graph = travelGraph(memory.checkpointer());
    const thread = { configurable: { thread_id: randomUUID(), ...scope } };
    for (const input of ["one", "two", "three"]) await graph.invoke({ input }, thread);
    const before = [];
    for await (const snapshot of graph.getStateHistory(thread)) before.push(snapshot);
    const fork = before.filter(({ next }) => next.length === 0)[1]!;
    // Two branches: one waits for an answer, the other goes on beside it.
    await graph.invoke(
      { input: "ask" },
      { configurable: { ...fork.config.configurable, ...scope } },
    );
    const { config: asked } = await graph.getState(thread);
    const tip = { configurable: { ...asked.configurable, ...scope } };
    const waiting = await graph.getState(tip);
    await graph.invoke(
      { input: "beside" },
      { configurable: { ...fork.config.configurable, ...scope } },
    );
    const last = await graph.getState(thread);
    const whole = await cloneThread(db, thread.configurable.thread_id);
    const rows = await count("checkpoints", "thread_id = $1", thread.configurable.thread_id);

    await upkeep(memory);
    const left = await count("checkpoints", "thread_id = $1", thread.configurable.thread_id);
    expect(left).toBeLessThan(rows);
    expect(await graph.getState(thread)).toEqual(last);
    expect(await graph.getState(tip)).toEqual(waiting);
    const resumed = [];
    for (const [id, from] of [
      [thread.configurable.thread_id, scope],
      [whole, {}],
    ] as const) {
      const { checkpoint_id } = asked.configurable as { checkpoint_id: string };
      const at = { checkpoint_id, checkpoint_ns: "", thread_id: id, ...from };
      const answer = await graph.invoke(new Command({ resume: "yes" }), { configurable: at });
      const after = await graph.invoke(
        { input: "after" },
        { configurable: { thread_id: id, ...from } },
      );
      resumed.push([answer, after]);
    }
    expect(resumed[0]).toEqual(resumed[1]);
    expect(JSON.stringify(resumed)).toContain("answer yes");
    expect(
      await count(
        "event",
        "tenant_id = $1 and step = 'lifecycle' and op = 'delete' and detail like 'checkpoints=%'",
        scope.tenantId,
      ),
    ).toBe(1);
  });

  it("Upkeep leaves short threads, and those of another saver, as they are", async () => {
    const { memory, scope } = idling({ checkpoints: { keep: 1_000 } });
    const graph = travelGraph(memory.checkpointer());
    const thread = { configurable: { thread_id: randomUUID(), ...scope } };
    await graph.invoke({ input: "one" }, thread);
    const rows = await count("checkpoints", "thread_id = $1", thread.configurable.thread_id);
    const others = await cloneThread(db, thread.configurable.thread_id);
    await upkeep(memory);
    await upkeep(idling(config).memory);
    expect(await count("checkpoints", "thread_id = $1", others)).toBe(rows);
    expect(
      await count("checkpoints", "thread_id = $1", thread.configurable.thread_id),
    ).toBeLessThan(rows);
  });
});
