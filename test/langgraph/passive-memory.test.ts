import { tool } from "@langchain/core/tools";
import { Command, interrupt } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Memory, withMemory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { addressOf, answering, chatAgent, knownThread, lines, say, summarizing, toolAgent } from "./conversation.js";
import { agentIn, ways } from "./ways.js";

const database = useTestDatabase();

describe.each(ways)("passive memory by %s", (way) => {
  const start = async (memory: Memory) => {
    const model = answering();
    return { model, graph: await agentIn(way, { memory, model, memoryMode: "passive" }) };
  };

  it("writes and does not recall, and what changed is told by the first turn that is active", async () => {
    const memory = database.memory();
    const thread = await knownThread(memory);
    const { graph, model } = await start(memory);
    await say(graph, "What do I like?", thread);
    const viola = { text: "The user sold a viola.", importance: 3 };
    await memory.memories.add(viola, { scope: addressOf(thread).scope });
    await say(graph, "What did I sell?", thread);
    for (const { messages } of model.calls) expect(lines(messages).join()).not.toMatch(/zanzibar|viola|<memory>/);
    expect((await memory.recall(addressOf(thread))).lastSeq).toBe(3);

    const active = { configurable: { ...thread.configurable, memory_mode: "active" } };
    await say(graph, "And now?", active);
    const told = lines(model.calls[2]!.messages).join();
    expect(told).toContain("- dish: zanzibar");
    expect(told).toMatch(/Memory updates since rev \d+:\n- \+created: \[Knowledge\] The user sold a viola/);
  });

  it("is what a way in or a run says, the run first", async () => {
    const memory = database.memory();
    const thread = await knownThread(memory);
    const { graph, model } = await start(memory);
    await say(graph, "What do I like?", thread);
    await say(graph, "And now?", { configurable: { ...thread.configurable, memoryMode: "active" } });
    expect(model.calls.map(({ messages }) => lines(messages).join().includes("zanzibar"))).toEqual([false, true]);
    for (const wrong of [{ memory_mode: "asleep" }, { time_zone: "Asia/Atlantis" }]) {
      const run = say(graph, "Hm?", { configurable: { ...thread.configurable, ...wrong } });
      await expect(run).rejects.toMatchObject({ code: "INVALID_INPUT" });
    }
  });
});

describe("a passive turn", () => {
  it("is shown its conversation and counts no search", async () => {
    const memory = database.memory({ model: summarizing(), config: { summaries: { afterSeq: 1 } } });
    const thread = await knownThread(memory);
    const model = answering();
    const graph = withMemory(chatAgent(model), memory, {
      memoryMode: "passive",
      session: "bounded",
      injectAs: "system",
    }).compile({ checkpointer: memory.checkpointer() });
    for (const round of [1, 2, 3]) await say(graph, `question ${round}`, thread);
    const shown = lines(model.calls[2]!.messages);
    expect(shown[0]).toMatch(/summary \d/);
    expect(shown.at(-1)).toBe("human: question 3");
    const { scope } = addressOf(thread);
    const events = await memory.events.list({ scope });
    expect(events.filter(({ step }) => step === "recall")).toEqual([]);
    await expect(memory.recall({ ...addressOf(thread), mode: "asleep" as never })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    const recalled = await memory.recall({ ...addressOf(thread), query: "zanzibar", mode: "passive" });
    expect(recalled.memories).toEqual({
      profile: [],
      relevant: [],
      episodes: [],
      related: [],
      rest: [],
      notes: [],
      omitted: 0,
    });
  });

  it("stays passive when its run goes on from an interrupt", async () => {
    const memory = database.memory();
    const thread = await knownThread(memory);
    const asks = tool(() => interrupt<string, string>("Which?"), { name: "ask", schema: z.object({}) });
    const { agent, model } = toolAgent([{ toolCalls: [{ name: "ask", args: {} }] }, "Thanks."], [asks]);
    const graph = withMemory(agent, memory, { memoryMode: "passive" }).compile({ checkpointer: memory.checkpointer() });
    await say(graph, "What do I like?", thread);
    const resumed = await graph.invoke(new Command({ resume: "this one" }), thread);
    expect(lines(resumed.messages).at(-1)).toBe("ai: Thanks.");
    expect(model.calls).toHaveLength(2);
    for (const { messages } of model.calls) expect(lines(messages).join()).not.toContain("zanzibar");
  });
});
