import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { internalApi } from "../../../src/internal-api.js";
import type { Scope } from "../../../src/scope/scope.js";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { useChildScripts } from "../../support/child-scripts.js";
import { fillScope } from "../../support/fill-scope.js";
import {
  countEverything,
  findEverywhere,
  personalTables,
  word,
} from "../../support/find-everywhere.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";
import { textsOf } from "../../support/thread-facts.js";

const db = useTestDatabase();
const start = useChildScripts();
/** Tables without text, whose rows belong to rows of others. */
const wordless = ["erasure", "memory_embedding", "memory_source", "note_source", "relation"];

beforeAll(async () => {
  await db.memory({ embeddings: new HashingEmbeddings({ dimensions: 16 }) }).setup();
});

describe("forget", () => {
  it("A forget leaves no trace of a user in any table, one event and one record without content", async () => {
    const ben = word();
    await fillScope(db, { userId: ben }, ben);
    const empty = await findEverywhere(db, ben);
    const before = await countEverything(db);
    const ana = word();
    const scope = { tenantId: ana, userId: ana };
    const memory = await fillScope(db, scope, ana);
    // fillScope must fill each new table with data of scopes.
    const filled = Object.keys(await findEverywhere(db, ana));
    expect([...filled, ...wordless].sort()).toEqual(await personalTables(db));

    const preview = await memory.forget({ scope, dryRun: true });
    expect(preview.total).toBeGreaterThan(50);
    expect(Object.keys(await findEverywhere(db, ana))).toEqual(filled);
    const steps: { done: number; total: number }[] = [];
    const forgotten = await memory.forget({
      scope,
      batchSize: 3,
      onProgress: (step) => steps.push(step),
    });
    expect(forgotten).toEqual({ ...preview, complete: true });
    expect(Object.keys(forgotten.removed).sort()).toEqual(
      expect.arrayContaining(["memory", "owner", "thread"]),
    );
    expect(steps[0]).toEqual({ done: 0, total: preview.total });
    expect(steps.at(-1)?.total).toBe(preview.total);

    expect(await findEverywhere(db, ana)).toEqual({ event: 1, erasure: 1 });
    const { rows } = await db.pool.query(`select * from "${db.schema}".event where op = 'forget'`);
    expect(rows).toMatchObject([
      { tenant_id: ana, user_id: "", app_id: "", thread_id: null, memory_id: null },
    ]);
    expect(rows[0].detail).toMatch(/\bmemory=\d+ /);
    const left = { event: (before.event ?? 0) + 1, erasure: (before.erasure ?? 0) + 1 };
    expect(await countEverything(db)).toEqual({ ...before, ...left });
    expect(await findEverywhere(db, ben)).toEqual(empty);
    expect(await memory.forget({ scope })).toEqual({
      removed: {},
      total: 0,
      sharedThreads: [],
      complete: true,
    });
    expect((await countEverything(db)).event).toBe((before.event ?? 0) + 1);
  });

  it("Forgetting a user within an app keeps what the user has elsewhere, with correct counts", async () => {
    const [user, app, other] = [word(), word(), word()];
    const inApp = { userId: user, appId: app };
    const config = { categories: { custom: [{ name: "in_app", level: "app" as const }] } };
    const memory = db.memory({ config });
    const scopes: Scope[] = [inApp, { userId: user, appId: other }, { userId: user }];
    for (const scope of scopes) {
      const name = scope.appId ?? "everywhere";
      await memory.record({
        scope,
        threadId: `t ${name}`,
        messages: [new HumanMessage(`hello from ${name}`)],
      });
      const drafts = [
        {
          text: `Knows ${name} by heart.`,
          category: scope.appId === undefined ? undefined : "in_app",
        },
      ];
      const [written] = await memory.memories.add({ scope, memories: drafts });
      await memory.memories.update({ scope, id: written?.id ?? "", importance: 5 });
      await internalApi(memory).emit({ scope, step: "recall", op: "search", status: "ok" });
    }
    const { removed } = await memory.forget({ scope: inApp });
    expect(removed).toMatchObject({ memory: 1, thread: 1, message: 1, history: 2, change_log: 1 });
    expect(Object.keys(removed)).not.toContain("owner");
    expect(await findEverywhere(db, app)).toEqual({});
    expect(await textsOf(memory, { scope: { userId: user } })).toEqual([
      `Knows ${other} by heart.`,
      "Knows everywhere by heart.",
    ]);
    expect(await memory.threads.list({ scope: { userId: user } })).toHaveLength(2);
    const { rows } = await db.pool.query(
      `select o.memory_count::int, o.message_count::int, o.memory_length::int, o.message_length::int,
         (select sum(l)::int from (select max(length) l from "${db.schema}".memory_term t where t.owner_ref = o.id
           group by memory_ref) m) as memories,
         (select sum(frequency)::int from "${db.schema}".message_term t where t.owner_ref = o.id) as messages
       from "${db.schema}".owner o where user_id = $1`,
      [user],
    );
    const [{ memories, messages }] = rows;
    expect(rows).toMatchObject([
      { memory_count: 2, message_count: 2, memory_length: memories, message_length: messages },
    ]);
  });

  it("Forgetting an app removes its own notes and threads, and nothing of its users", async () => {
    const app = word();
    const memory = db.memory();
    const user = { userId: "ana", appId: app };
    await memory.memories.add({
      scope: { appId: app },
      memories: { text: `Users of ${app} like short answers.`, kind: "note" },
    });
    await memory.record({
      scope: { appId: app },
      threadId: word(),
      messages: [new HumanMessage("of the app")],
    });
    await memory.record({
      scope: user,
      threadId: word(),
      messages: [new HumanMessage("of a user")],
    });
    const { removed } = await memory.forget({ scope: { appId: app } });
    expect(removed).toMatchObject({ memory: 1, thread: 1, owner: 1 });
    expect(await findEverywhere(db, app)).toEqual({ thread: 1 });
    expect(await memory.threads.list({ scope: user })).toHaveLength(1);
  });

  it.each([
    "ana%",
    "an_",
    "ana:1",
    "ANA",
    "aná",
    "ana'; drop table x; --",
    "__proto__",
    "😀",
    "x".repeat(10_000),
  ])("A forget touches no scope with another id, even if it is %.20s", async (odd) => {
    const memory = db.memory();
    const tenantId = word();
    const scopes: Scope[] = [
      { tenantId, userId: "ana" },
      { tenantId, appId: "ana" },
      { userId: "ana", tenantId: `${tenantId}:` },
    ];
    const marked = async (scope: Scope) => {
      await memory.memories.add({ scope, memories: { text: "Likes tea very much." } });
      await memory.record({ scope, threadId: word(), messages: [new HumanMessage("tea")] });
    };
    const shape = async (scope: Scope) => [
      (await memory.memories.list({ scope })).length,
      (await memory.threads.list({ scope })).length,
    ];
    for (const scope of scopes) await marked(scope);
    await marked({ tenantId, userId: odd });
    expect((await memory.forget({ scope: { tenantId, userId: odd } })).removed).toMatchObject({
      memory: 1,
      thread: 1,
    });
    expect(await shape({ tenantId, userId: odd })).toEqual([0, 0]);
    for (const scope of scopes) expect(await shape(scope)).toEqual([1, 1]);
  });

  it("A forget removes the checkpoints of a thread, but not those of another tenant's equal id", async () => {
    const [a, b] = [word(), word()];
    const shared = word();
    const first = await fillScope(db, { tenantId: a, userId: a }, a, shared);
    await fillScope(db, { tenantId: b, userId: b }, b, shared);
    const checkpointed = async (needle: string) =>
      (await findEverywhere(db, needle)).checkpoint_blobs ?? 0;
    expect(await checkpointed(a)).toBeGreaterThan(0);
    const forgotten = await first.forget({ scope: { tenantId: a, userId: a } });
    expect(forgotten).toMatchObject({ sharedThreads: [], complete: true });
    expect(forgotten.removed.checkpoints).toBeGreaterThan(0);
    expect(await checkpointed(a)).toBe(0);
    expect(await checkpointed(b)).toBeGreaterThan(0);
    await first.forget({ scope: { tenantId: b, userId: b } });
    expect(await findEverywhere(db, shared)).toEqual({});
    expect(await checkpointed(b)).toBe(0);
  });

  it("A forget keeps checkpoints that hold the state of two tenants, until both are forgotten", async () => {
    const [a, b] = [word(), word()];
    const shared = word();
    const memory = db.memory();
    // A checkpointer of LangGraph's own knows no tenants.
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("answer", () => ({ messages: [new AIMessage("noted")] }))
      .addEdge(START, "answer")
      .compile({ checkpointer: new PostgresSaver(db.pool, undefined, { schema: db.schema }) });
    for (const name of [a, b]) {
      const said = [new HumanMessage(name)];
      await graph.invoke({ messages: said }, { configurable: { thread_id: shared } });
      await memory.record({
        scope: { tenantId: name, userId: name },
        threadId: shared,
        messages: said,
      });
    }
    const forgotten = await memory.forget({ scope: { tenantId: a, userId: a } });
    expect(forgotten.sharedThreads).toEqual([shared]);
    expect(forgotten.removed).not.toHaveProperty("checkpoints");
    expect(Object.keys(await findEverywhere(db, shared))).toContain("checkpoints");
    const last = await memory.forget({ scope: { tenantId: b, userId: b } });
    expect(last).toMatchObject({ sharedThreads: [], complete: true });
    expect(last.removed.checkpoints).toBeGreaterThan(0);
    expect(await findEverywhere(db, shared)).toEqual({});
  });

  it("A forget lets others write meanwhile, and keeps what is written afterwards", async () => {
    const user = word();
    const scope = { userId: user };
    const memory = db.memory();
    let stop = false;
    const writer = async (name: string) => {
      for (let round = 0; !stop; round++) {
        const text = `Fact ${name} ${round} of ${user}.`;
        await sleep(5);
        await memory.memories.add({ scope, memories: { text } });
        await memory.record({
          scope,
          threadId: `${user} ${name}`,
          messages: [new HumanMessage(text)],
        });
      }
    };
    const writers = ["one", "two"].map(writer);
    for (let turn = 0; turn < 2; turn++) await memory.forget({ scope, batchSize: 50 });
    stop = true;
    await Promise.all(writers);
    expect((await memory.forget({ scope })).complete).toBe(true);
    expect(await findEverywhere(db, user)).toEqual({});
    await memory.memories.add({ scope, memories: { text: `Afterwards ${user} is back.` } });
    expect(await memory.memories.list({ scope })).toHaveLength(1);
  });

  // The embedded database has one connection, so the item is written between two transactions.
  it.skipIf(onServer())(
    "A forget removes an item of the store that was written meanwhile (embedded only)",
    async () => {
      const user = word();
      const memory = db.memory();
      const store = memory.store({ scope: { userId: user } });
      await memory.memories.add({
        scope: { userId: user },
        memories: { text: `A fact of ${user}.` },
      });
      const late: Promise<void>[] = [];
      // Before the last step, which deletes the owner.
      const onProgress = ({ done, total }: { done: number; total: number }) => {
        if (done < total) late.push(store.put(["items"], `${late.length}`, { text: user }));
      };
      await memory.forget({ scope: { userId: user }, onProgress });
      await Promise.all(late);
      expect(late.length).toBeGreaterThan(0);
      expect(await findEverywhere(db, user)).toEqual({});
    },
  );

  it.skipIf(!onServer())(
    "A forget killed in the middle is finished by the next run (server only)",
    async () => {
      const user = word();
      const memory = await fillScope(db, { userId: user }, user);
      const { total } = await memory.forget({ scope: { userId: user }, dryRun: true });
      // Killed at different depths: among memories, checkpoints, messages, and records.
      for (const depth of [5, Math.round(total / 3), Math.round(total / 2)]) {
        const url = inject("databaseUrl") ?? "";
        const child = start("forget-slowly", [url, db.schema, user, `${depth}`]);
        await child.line("deep enough");
        await child.kill();
        expect(await findEverywhere(db, user)).not.toEqual({});
      }
      expect(await memory.forget({ scope: { userId: user } })).toMatchObject({ complete: true });
      expect(await findEverywhere(db, user)).toEqual({});
      expect((await memory.forget({ scope: { userId: user } })).total).toBe(0);
    },
  );
});
