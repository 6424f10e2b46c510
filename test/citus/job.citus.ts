import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { type ExportLine, withMemory } from "../../src/index.js";
import { HashingEmbeddings, OfflineChatModel, ScriptedChatModel } from "../../src/testing/index.js";
import { round } from "../support/spoken.js";
import { summaryMemory } from "../support/summary-memory.js";
import { useTestDatabase } from "../support/test-database.js";

describe.each([
  ["without vectors", undefined],
  ["with vectors", new HashingEmbeddings({ dimensions: 64 })],
])("Everything that an agent does, on Citus, %s", (_, embeddings) => {
  const db = useTestDatabase();
  const model = new OfflineChatModel();
  const scope = { tenantId: "acme", userId: "ana" };
  const app = { tenantId: "acme", appId: "calendar" };
  const config = (thread_id: string) => ({
    configurable: { thread_id, user_id: "ana", tenant_id: "acme" },
  });
  const open = async () => {
    const memory = db.memory({ model, ...(embeddings && { embeddings }) });
    await memory.setup();
    return memory;
  };

  it("The schema is on one of the workers", async () => {
    const { rows } = await db.pool.query(
      "select version() as server, citus_version() as citus, nodeport from citus_schemas join citus_shards using (colocation_id) where schema_name = $1::regnamespace limit 1",
      [db.schema],
    );
    console.log(rows[0]?.server.split(",")[0], "·", rows[0]?.citus.split(" on ")[0]);
    expect(rows).toHaveLength(1);
  });

  it("Turns, checkpoints, recall, query and its explanation", async () => {
    const memory = await open();
    const chat = new StateGraph(MessagesAnnotation)
      .addNode("chat", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, "chat")
      .compile();
    const graph = withMemory(chat, memory, { onError: "throw" }).compile({
      checkpointer: memory.checkpointer(),
    });
    const say = (content: string, thread: string) =>
      graph.invoke({ messages: [{ role: "user", content }] }, config(thread));
    for (let n = 0; n < 12; n++) await say(`Note number ${n}: the harbour was calm.`, "monday");
    await say("I build a boat.", "tuesday");
    expect((await graph.getState(config("monday"))).values.messages).toHaveLength(24);
    expect(await memory.threads.messages({ scope, threadId: "monday" })).toHaveLength(24);
    expect((await memory.threads.shown({ scope, threadId: "monday" })).length).toBeGreaterThan(0);
    expect(await memory.checkpoints.prune({ threadId: "monday", keepLast: 1 })).toMatchObject({
      threads: 1,
    });
    await memory.memories.add({ scope, memories: { text: "The user builds a boat that sails." } });
    const hits = await memory.query({ scope, query: "When does the boat sail?" });
    expect(hits[0]?.memory.text).toBe("The user builds a boat that sails.");
    const filters = { importance_min: 1, metadata: {} };
    expect(await memory.query({ scope, query: "boat", filters })).toHaveLength(1);
    expect((await memory.query({ scope, query: "boat", explain: true })).hits).toHaveLength(1);
    expect(
      (await memory.recall({ scope, threadId: "tuesday", query: "boat" })).memories,
    ).not.toEqual({});
    expect(await memory.transcript.search({ scope, query: "boat" })).toHaveLength(2);
    await memory.idle();
  });

  it("A summary whose model fails is made by a later try", async () => {
    const broken = new ScriptedChatModel({
      replies: [
        new Error("overloaded"),
        { structured: { reasoning: "", summary: "They talked." } },
      ],
    });
    const config = { summaries: { retryDelayMs: 0 }, upkeep: { retryDelayMs: 0 } };
    const memory = summaryMemory(db, { model: broken, config });
    const thread = { scope, threadId: "failing" };
    await memory.remember({ ...thread, messages: [...round("1"), ...round("2"), ...round("3")] });
    await memory.upkeep({ kinds: ["summaries"] });
    expect(broken.calls).toHaveLength(2);
    expect(await memory.summaries.list(thread)).toMatchObject([{ status: "completed" }]);
  });

  it("Memories, notes, consolidation and upkeep", async () => {
    const memory = await open();
    const [added] = await memory.memories.add({
      scope,
      memories: { text: "The user plays chess." },
    });
    const id = added!.id!;
    await memory.memories.update({ scope, id, text: "The user plays chess on Mondays." });
    await memory.memories.remove({ scope, id });
    await memory.memories.restore({ scope, id });
    expect((await memory.memories.history({ scope, id })).length).toBeGreaterThan(2);
    for (const n of [1, 2, 3, 4]) {
      const talk = { scope: { ...scope, appId: "calendar" }, threadId: `note ${n}` };
      await memory.remember({
        ...talk,
        messages: [
          { role: "user", content: `Book meeting room ${n}.` },
          { role: "assistant", content: `Room ${n} is booked.` },
        ],
      });
      await memory.threads.end({ ...talk, reason: "booked" });
    }
    await memory.idle();
    const [note] = await memory.notes.list({ scope: app });
    await memory.notes.remove({ scope: app, id: note!.id });
    await memory.graphs().consolidation.invoke({ scope });
    await memory.graphs().insights.invoke({ scope });
    await memory.upkeep();
    if (embeddings) await memory.reembed();
    await memory.stats({ scope });
  });

  it("The store keeps, finds and deletes items", async () => {
    const store = (await open()).store({ scope });
    await store.put(["memories", "ana"], "tea", { text: "Likes green tea.", cups: 3 });
    await store.put(["memories", "ana"], "tea", { text: "Likes black tea.", cups: 3 });
    expect((await store.get(["memories", "ana"], "tea"))?.value.text).toBe("Likes black tea.");
    expect(await store.search(["memories"], { query: "tea", filter: { cups: 3 } })).toHaveLength(1);
    expect(await store.listNamespaces({ prefix: ["memories"] })).toHaveLength(1);
    await store.delete(["memories", "ana"], "tea");
  });

  it("Export, forget and import", async () => {
    const memory = await open();
    const lines: ExportLine[] = [];
    for await (const line of memory.export({ scope })) lines.push(line);
    const before = await memory.memories.list({ scope });
    expect(await memory.forget({ scope })).toMatchObject({ complete: true });
    expect(await memory.memories.list({ scope })).toEqual([]);
    await memory.import({ lines });
    expect(await memory.memories.list({ scope })).toHaveLength(before.length);
    expect(await memory.forget({ scope })).toMatchObject({ complete: true });
  });
});
