import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { OfflineChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();

describe("the compression graph", () => {
  it("shows its steps, and keeps no checkpoints", async () => {
    const graph = db.memory().graphs().compression;
    const { nodes } = await graph.getGraphAsync();
    expect(Object.keys(nodes)).toEqual(["__start__", "load", "compress", "validate", "save", "__end__"]);
    expect([graph.name, graph.checkpointer]).toEqual(["compression", false]);
  });

  it("compresses what is due of a thread by hand, one episode a run", async () => {
    const memory = db.memory({ model: new OfflineChatModel() });
    const thread = newAddress();
    const graph = memory.graphs().compression;
    const turns = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, index) => new HumanMessage(`Turn ${from + index}.`));
    await memory.record({ ...thread, messages: turns(1, 19) });
    expect(await graph.invoke(thread)).toMatchObject({ status: "skipped", episode: null });
    await memory.record({ ...thread, messages: turns(20, 40) });
    for (const range of [
      { start: 1, end: 10 },
      { start: 11, end: 30 },
    ]) {
      const { status, work, memoryId } = await graph.invoke(thread);
      expect([status, work?.turns]).toEqual(["completed", range]);
      expect((await memory.memories.get(memoryId!, thread))?.turns).toEqual(range);
    }
    expect(await graph.invoke(thread)).toMatchObject({ status: "skipped" });
  });

  it("refuses another scope's thread, and needs a model", async () => {
    const memory = db.memory({ model: new OfflineChatModel() });
    const thread = newAddress();
    await memory.record({ ...thread, messages: [new HumanMessage("Hi.")] });
    const foreign = { ...thread, scope: { userId: "bo" } };
    await expect(memory.graphs().compression.invoke(foreign)).rejects.toMatchObject({
      code: "THREAD_FORBIDDEN",
    });
    await expect(db.memory().graphs().compression.invoke(thread)).rejects.toMatchObject({
      code: "MODEL_REQUIRED",
    });
  });
});
