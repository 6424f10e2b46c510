import { tool } from "@langchain/core/tools";
import { Command, interrupt } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { withMemory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  addressOf,
  agentWithMemory,
  answering,
  knownThread,
  lines,
  say,
  summarizing,
  toolAgent,
  userOf,
} from "./conversation.js";
import { agentIn, ways } from "./ways.js";

const database = useTestDatabase();

describe.each(ways)("passive memory by %s", (way) => {
  const start = async () => {
    const [memory, model] = [database.memory(), answering()];
    const thread = await knownThread(memory);
    const graph = await agentIn(way, { memory, model, memoryMode: "passive" });
    await say(graph, "What do I like?", thread);
    return { memory, thread, graph, model };
  };

  it("A passive turn records without recall, and the first turn that a run makes active reports the changes", async () => {
    const { memory, thread, graph, model } = await start();
    await memory.memories.add({
      ...userOf(thread),
      memories: { text: "The user sold a viola.", importance: 3 },
    });
    await say(graph, "What did I sell?", thread);
    for (const { messages } of model.calls)
      expect(lines(messages).join()).not.toMatch(/zanzibar|viola|<memory>/);
    expect((await memory.recall(addressOf(thread))).lastSeq).toBe(3);

    await say(graph, "And now?", {
      configurable: { ...thread.configurable, memoryMode: "active" },
    });
    const shown = lines(model.calls[2]!.messages).join();
    expect(shown).toContain("- dish: zanzibar");
    expect(shown).toMatch(
      /Memory updates since rev \d+:\n- \+created: \[Knowledge\] The user sold a viola/,
    );
  });

  it("A run with an unknown memory mode or time zone is refused, and changes nothing", async () => {
    const { memory, thread, graph } = await start();
    for (const wrong of [{ memory_mode: "asleep" }, { time_zone: "Asia/Atlantis" }]) {
      const run = say(graph, "Hm?", { configurable: { ...thread.configurable, ...wrong } });
      await expect(run).rejects.toMatchObject({ code: "INVALID_INPUT" });
    }
    expect((await memory.recall(addressOf(thread))).lastSeq).toBe(1);
  });
});

describe("a passive turn", () => {
  it("A passive turn is shown its conversation and records no search", async () => {
    const config = { summaries: { afterSeq: 1 } };
    const options = { memoryMode: "passive", session: "bounded" } as const;
    const { memory, model, graph } = agentWithMemory(
      database.memory({ model: summarizing(), config }),
      options,
    );
    const thread = await knownThread(memory);
    for (const round of [1, 2, 3]) await say(graph, `question ${round}`, thread);
    const shown = lines(model.calls[2]!.messages);
    expect(shown[0]).toMatch(/summary \d/);
    expect(shown.at(-1)).toBe("human: question 3");
    const { scope } = addressOf(thread);
    expect((await memory.events.list({ scope })).filter(({ step }) => step === "recall")).toEqual(
      [],
    );
  });

  it("A passive turn stays passive when its run goes on from an interrupt", async () => {
    const memory = database.memory();
    const thread = await knownThread(memory);
    const asks = tool(() => interrupt<string, string>("Which?"), {
      name: "ask",
      schema: z.object({}),
    });
    const { agent, model } = toolAgent(
      [{ toolCalls: [{ name: "ask", args: {} }] }, "Thanks."],
      [asks],
    );
    const graph = withMemory(agent, memory, { memoryMode: "passive" }).compile({
      checkpointer: memory.checkpointer(),
    });
    await say(graph, "What do I like?", thread);
    const resumed = await graph.invoke(new Command({ resume: "this one" }), thread);
    expect([lines(resumed.messages).at(-1), model.calls.length]).toEqual(["ai: Thanks.", 2]);
    for (const { messages } of model.calls)
      expect(lines(messages).join()).not.toContain("zanzibar");
  });
});
