import { tool } from "@langchain/core/tools";
import { Command, interrupt } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createMemorySupervisor, type Memory, memoryMiddleware, withMemory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  addressOf,
  answering,
  chatAgent,
  lines,
  newThread,
  say,
  summarizing,
  toolAgent,
} from "./conversation.js";

const database = useTestDatabase();

async function known(memory: Memory) {
  const thread = newThread();
  const { scope } = addressOf(thread);
  await memory.memories.add(
    {
      ...{ category: "profile", key: "instrument", value: "cello", importance: 5, origin: "user" },
      text: "The user plays the cello.",
    },
    { scope },
  );
  return thread;
}

type Mode = { readonly memoryMode?: "active" | "passive" };

const ways: Record<
  string,
  (memory: Memory, mode: Mode) => Promise<{ graph: unknown; model: ReturnType<typeof answering> }>
> = {
  async withMemory(memory, mode) {
    const model = answering();
    return {
      model,
      graph: withMemory(chatAgent(model), memory, mode).compile({ checkpointer: memory.checkpointer() }),
    };
  },
  async memoryMiddleware(memory, mode) {
    const model = answering();
    const middleware = [memoryMiddleware(memory, mode)];
    return {
      model,
      graph: createAgent({ model, tools: [], middleware, checkpointer: memory.checkpointer() }),
    };
  },
  async createMemorySupervisor(memory, mode) {
    const model = answering();
    const supervisor = await createMemorySupervisor({ memory, model, planner: {}, executor: {}, ...mode });
    return { model, graph: supervisor.compile({ checkpointer: memory.checkpointer() }) };
  },
};

describe.each(Object.keys(ways))("%s, passive", (name) => {
  const make = ways[name]!;

  it("writes and does not recall, and what changed is told by the first turn that is active", async () => {
    const memory = database.memory();
    const thread = await known(memory);
    const { graph, model } = await make(memory, { memoryMode: "passive" });
    await say(graph, "I play what?", thread);
    const viola = { text: "The user sold a viola.", importance: 3 };
    await memory.memories.add(viola, { scope: addressOf(thread).scope });
    await say(graph, "What did I sell?", thread);
    for (const { messages } of model.calls)
      expect(lines(messages).join()).not.toMatch(/cello|viola|<memory>/);
    expect((await memory.recall(addressOf(thread))).lastSeq).toBe(3);

    const active = { configurable: { ...thread.configurable, memory_mode: "active" } };
    await say(graph, "And now?", active);
    const told = lines(model.calls[2]!.messages).join();
    expect(told).toContain("- instrument: cello");
    expect(told).toMatch(/Memory updates since rev \d+:\n- \+created: \[Knowledge\] The user sold a viola/);
  });

  it("is what a way in or a run says, the run first", async () => {
    const memory = database.memory();
    const thread = await known(memory);
    const { graph, model } = await make(memory, { memoryMode: "passive" });
    await say(graph, "I play what?", thread);
    await say(graph, "And now?", { configurable: { ...thread.configurable, memoryMode: "active" } });
    expect(model.calls.map(({ messages }) => lines(messages).join().includes("cello"))).toEqual([
      false,
      true,
    ]);
    const wrong = { configurable: { ...thread.configurable, memory_mode: "asleep" } };
    await expect(say(graph, "Hm?", wrong)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });
});

describe("a passive turn", () => {
  it("is shown its conversation and counts no search", async () => {
    const memory = database.memory({ model: summarizing(), config: { summaries: { afterSeq: 1 } } });
    const thread = await known(memory);
    const model = answering();
    const graph = withMemory(chatAgent(model), memory, { memoryMode: "passive", session: "bounded" }).compile(
      {
        checkpointer: memory.checkpointer(),
      },
    );
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
    const recalled = await memory.recall({ ...addressOf(thread), query: "cello", mode: "passive" });
    expect(recalled.memories).toEqual({
      ...{ profile: [], relevant: [], episodes: [], related: [], rest: [], notes: [] },
      leftOut: 0,
    });
  });

  it("stays passive when its run goes on from an interrupt", async () => {
    const memory = database.memory();
    const thread = await known(memory);
    const asks = tool(() => interrupt<string, string>("Which?"), { name: "ask", schema: z.object({}) });
    const { agent, model } = toolAgent([{ toolCalls: [{ name: "ask", args: {} }] }, "Thanks."], [asks]);
    const graph = withMemory(agent, memory, { memoryMode: "passive" }).compile({
      checkpointer: memory.checkpointer(),
    });
    await say(graph, "What do I play?", thread);
    const resumed = await graph.invoke(new Command({ resume: "this one" }), thread);
    expect(lines(resumed.messages).at(-1)).toBe("ai: Thanks.");
    expect(model.calls).toHaveLength(2);
    for (const { messages } of model.calls) expect(lines(messages).join()).not.toContain("cello");
  });
});
