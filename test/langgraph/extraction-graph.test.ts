import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { OfflineChatModel } from "../../src/testing/index.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress, say, textsOf } from "../support/thread-facts.js";
import { addressOf, agentWithMemory, newThread, streamed } from "./conversation.js";

const db = useTestDatabase();

describe("the extraction graph", () => {
  it("shows its steps, and keeps no checkpoints", async () => {
    const graph = db.memory().graphs().extraction;
    const { nodes } = await graph.getGraphAsync();
    expect(Object.keys(nodes)).toEqual(["__start__", "load", "extract", "validate", "save", "__end__"]);
    expect([graph.name, graph.checkpointer]).toEqual(["extraction", false]);
  });

  it("extracts the facts of a thread by hand, once", async () => {
    const memory = db.memory({ model: new OfflineChatModel() });
    const thread = newAddress();
    await memory.record({ ...thread, messages: [new HumanMessage("My name is Ana."), new AIMessage("Hi.")] });
    const graph = memory.graphs().extraction;
    const steps: string[] = [];
    for await (const update of await graph.stream(thread, { streamMode: "updates" })) {
      steps.push(...Object.keys(update));
    }
    expect(steps).toEqual(["load", "extract", "validate", "save"]);
    expect(await textsOf(memory, thread)).toEqual(["The user's name is Ana."]);
    expect(await graph.invoke(thread)).toMatchObject({ status: "skipped", candidates: [] });

    await memory.record({ ...thread, messages: [new HumanMessage("I work for Mota.")] });
    const { status, chosen, outcomes } = await graph.invoke(thread);
    expect([status, chosen.length, outcomes[0]?.outcome]).toEqual(["completed", 1, "created"]);
  });

  it("refuses another scope's thread, does nothing for an unknown one, and needs a model", async () => {
    const memory = db.memory({ model: new OfflineChatModel() });
    const thread = newAddress();
    await say(memory, thread, "My name is Ana.");
    const graph = memory.graphs().extraction;
    await expect(graph.invoke({ ...thread, scope: { userId: "bo" } })).rejects.toMatchObject({
      code: "THREAD_FORBIDDEN",
    });
    expect(await graph.invoke({ ...thread, threadId: "none" })).toMatchObject({ status: "skipped" });
    await expect(db.memory().graphs().extraction.invoke(thread)).rejects.toMatchObject({
      code: "MODEL_REQUIRED",
    });
  });
});

describe("extraction and compression within a run", () => {
  it.each(["inline", "background"] as const)(
    "leave no token and no event in its streams (%s)",
    async (jobs) => {
      const model = taskModel({
        fact_extraction: (prompt) =>
          prompt.includes("Secretia") ? facts(candidate("The user works in Secretia.", "Secretia")) : facts(),
        episode_summary: () => ({
          structured: { reasoning: "", summary: "They spoke of Secretia at length." },
        }),
      });
      const { memory, graph } = agentWithMemory(
        db.memory({
          ...{ model, jobs },
          config: { memories: { extract: true, episodes: true, episodeEveryTurns: 2 } },
        }),
      );
      const config = newThread();
      const chunks: unknown[] = [];
      for (const says of ["I live in Secretia.", "Hello."]) {
        const input = { messages: [new HumanMessage(says)] };
        const options = { ...config, subgraphs: true } as const;
        const run = streamed(graph, input, { ...options, streamMode: ["messages", "custom", "updates"] });
        chunks.push(...(await run));
      }
      await memory.idle();
      expect((await textsOf(memory, addressOf(config))).toSorted()).toEqual([
        "The user works in Secretia.",
        "They spoke of Secretia at length.",
      ]);
      const streams = JSON.stringify(chunks);
      const leaked = ["fact_extraction", "episode_summary", "at length", "extraction", "load", "compress"];
      expect(leaked.filter((word) => streams.includes(word))).toEqual([]);
      expect(streams.includes("answer 2")).toBe(true);
    },
  );
});
