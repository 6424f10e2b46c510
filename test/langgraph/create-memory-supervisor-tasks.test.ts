import { inspect } from "node:util";
import type { BaseMessage } from "@langchain/core/messages";
import { Command, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { type Memory, memoryMiddleware, withMemory } from "../../src/index.js";
import type { Subagent } from "../../src/langgraph/supervisor/create-memory-supervisor.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { findEverywhere } from "../support/find-everywhere.js";
import { useProviders } from "../support/providers/clients.js";
import type { Script } from "../support/providers/provider.js";
import { recordingLogger } from "../support/recording-logger.js";
import {
  delegates,
  newThread,
  plainTool,
  says,
  scripted,
  shown,
  shownTalk,
  supervise,
  transcript,
} from "../support/supervisor-fixture.js";
import { useTestDatabase } from "../support/test-database.js";
import { watchedPool } from "../support/watched-pool.js";
import { answering, lines, streamed } from "./conversation.js";

const db = useTestDatabase();
const start = useProviders();

const allowlists = {
  supervisor: ["profile", "constraints"],
  planner: ["constraints", "tasks"],
  executor: ["constraints", "preferences", "interests"],
  reader: ["constraints"],
};
const allergy = "The user is allergic to peanuts.";

/** A user's new thread, of whom each agent may know something else. */
async function knownUser(memory: Memory) {
  const { config, address } = newThread();
  const { scope } = address;
  const [first] = await memory.memories.add(
    [
      { category: "constraints", text: allergy },
      { category: "tasks", text: "The user's trip to Quito is due.", pinned: true },
      { category: "preferences", text: "The user prefers zinc tiles." },
      {
        category: "profile",
        key: "employer",
        value: "Timbuktu",
        text: "The user works at Timbuktu.",
      },
      { category: "interests", text: "The user collects fossils." },
    ],
    { scope },
  );
  return { config, address, scope, allergyId: first!.id! };
}

const words = ["peanuts", "Quito", "zinc", "Timbuktu", "fossils"];
const knownIn = (lines: readonly string[]) =>
  words.filter((word) => lines.join("\n").includes(word));

/** A team of which the executor asks before it answers. */
function asking() {
  const model = scripted(
    delegates(["planner", "Plan a dinner."], ["executor", "Buy it."]),
    "Done.",
  );
  const planner = scripted("the plan");
  const executor = scripted({ toolCalls: [{ name: "ask", args: {} }] }, "Bought.");
  return {
    models: { model, planner, executor },
    team: { model, planner: { model: planner }, executor: { model: executor, tools: [asks] } },
  };
}

const asks = plainTool("ask", () => `answer: ${interrupt("Which?")}`);

/** Subagents that ask before they answer, some of them with memory of their own. */
const readers: Record<string, (model: ScriptedChatModel, memory: Memory) => Subagent> = {
  "a definition": (model) => ({ model, tools: [asks] }),
  "a result of createAgent": (model) => createAgent({ model, tools: [asks] }),
  "an agent with memoryMiddleware": (model, memory) =>
    createAgent({
      model,
      tools: [asks],
      middleware: [memoryMiddleware(memory, { agent: "reader" })],
    }),
  "an agent within withMemory": (model, memory) =>
    withMemory(createAgent({ model, tools: [asks] }), memory, {
      agent: "reader",
    }).compile() as never,
};

describe("a supervisor's subagent", () => {
  it.each(["message", "system", "text"] as const)(
    "A subagent is shown what is always shown of its own categories, also after an interrupt, and nothing keeps it (as %s)",
    async (injectAs) => {
      const memory = db.memory({ config: { allowlists } });
      const { config, address } = await knownUser(memory);
      const { models, team } = asking();
      const checkpointer = memory.checkpointer();
      const graph = await supervise({ memory, checkpointer, injectAs, ...team });
      const before = await findEverywhere(db, "Timbuktu");
      const chunks = await streamed(graph, says("Dinner, please."), {
        ...config,
        streamMode: ["values", "updates", "messages", "custom"],
        subgraphs: true,
      });
      const streamedBy = (chunks as [string[], string, { messages?: BaseMessage[] }][]).flatMap(
        ([namespace, mode, { messages }]) =>
          mode === "values" && messages && namespace.join().includes("planner:") ? [messages] : [],
      );
      expect(lines(streamedBy.at(-1)!)).toEqual(["human: Plan a dinner.", "ai: the plan"]);
      const { messages } = await graph.invoke(new Command({ resume: "both" }), config);

      expect(lines(messages).slice(-3)).toEqual(["tool: the plan", "tool: Bought.", "ai: Done."]);
      const [planned, executed, resumed] = [...models.planner.calls, ...models.executor.calls].map(
        injectAs === "system" ? shown : shownTalk,
      );
      expect(knownIn(planned!)).toEqual(["peanuts", "Quito"]);
      expect(knownIn(executed!)).toEqual(["peanuts", "zinc"]);
      expect(resumed).toEqual([...executed!, "ai: (ask)", "tool: answer: both"]);
      expect(knownIn(shown(models.model.calls[0]))).toEqual(["peanuts", "Timbuktu"]);
      const texts = planned!.slice(injectAs === "system" ? 1 : 0);
      expect(texts).toEqual(
        {
          message: [expect.stringMatching(/^human: \[Previous context: /), "human: Plan a dinner."],
          system: [expect.stringMatching(/^system: <memory>/), "human: Plan a dinner."],
          text: [expect.stringMatching(/^human: \[Previous context: [\s\S]*\n\nPlan a dinner\.$/)],
        }[injectAs],
      );
      expect(texts.join()).not.toMatch(/Memory updates|Waiting for|Recent Conversation|Dinner/);

      const seen = inspect([chunks, messages, await graph.getState(config, { subgraphs: true })], {
        depth: 30,
      });
      expect(knownIn([seen, ...(await transcript(memory, address))])).toEqual([]);
      // What was known is where it was: no checkpoint and no record of a turn has it.
      expect(await findEverywhere(db, "Timbuktu")).toEqual(before);
      for (const word of words)
        expect(Object.keys(await findEverywhere(db, word)).join()).not.toContain("checkpoint");
    },
  );

  it.each(["message", "system", "text"] as const)(
    "A subagent that keeps its messages is not shown what was forgotten since its last task (as %s)",
    async (injectAs) => {
      const memory = db.memory();
      const { config, scope, allergyId } = await knownUser(memory);
      const planner = answering();
      const graph = await supervise({
        memory,
        injectAs,
        model: scripted(
          ...["first", "second"].flatMap((task) => [delegates(["planner", task]), "Ok."]),
        ),
        planner: stateful(planner),
      });
      await graph.invoke(says("Go."), config);
      await memory.memories.remove(allergyId, { scope });
      await graph.invoke(says("Go on."), config);
      const [first, second] = planner.calls.map(shown);
      expect(knownIn(first!)).toEqual(["peanuts", "Quito", "zinc", "Timbuktu"]);
      expect(knownIn(second!)).toEqual(["Quito", "zinc", "Timbuktu"]);
      expect(second!.join("\n").match(/# Long-term Memory/g)).toHaveLength(1);
      expect(second!.join("\n")).toMatch(/first\nai: answer 1\n[\s\S]*second$/);
    },
  );

  it.each(Object.keys(readers))(
    "A subagent is shown its memory once, by one recall: %s",
    async (kind) => {
      const { pool, statements } = watchedPool(db.pool);
      const memory = db.memory({ database: pool, config: { allowlists } });
      const { config } = await knownUser(memory);
      const reader = scripted({ toolCalls: [{ name: "ask", args: {} }] }, "Read.");
      const model = scripted(delegates(["reader", "Read."]), "Done.");
      const graph = await supervise({
        memory,
        model,
        agents: [{ name: "reader", description: "Reads.", agent: readers[kind]!(reader, memory) }],
      });
      statements.length = 0;
      await graph.invoke(says("Go."), config);
      const recalls = () =>
        statements.filter(({ text }) => text.includes("known_memories_1")).length;
      expect(recalls()).toBe(2);
      await graph.invoke(new Command({ resume: "this" }), config);
      expect(reader.calls.length).toBe(2);
      for (const call of reader.calls)
        expect(
          shown(call)
            .join("\n")
            .match(/allergic to peanuts/g),
        ).toHaveLength(1);
      expect(shown(reader.calls[1]).slice(0, -2)).toEqual(shown(reader.calls[0]));
    },
  );

  it.each([
    { memoryMode: "passive" as const },
    { injectAs: "text" as const, limits: { retrieval: { budgetTokens: 50 } } },
  ])("A subagent is shown no more than %j allows", async ({ limits, ...options }) => {
    const memory = db.memory({ config: limits });
    const { config } = await knownUser(memory);
    const planner = scripted("the plan");
    const model = scripted(delegates(["planner", "Plan."]), "Done.");
    const graph = await supervise({ memory, model, planner: { model: planner }, ...options });
    await graph.invoke(says("Go."), config);
    expect(shownTalk(planner.calls[0])).toEqual(["human: Plan."]);
  });

  it.each([
    ["continue", "goes on without memory", "tool: the plan", 1],
    ["throw", "fails", expect.stringMatching(/^tool: MemoryError: /), 0],
  ] as const)("With onError %s a task whose recall fails %s", async (...row) => {
    const [onError, _, result, calls] = row;
    const logger = recordingLogger();
    const memory = db.memory({ logger });
    const { config } = await knownUser(memory);
    const rename = (from: string, to: string) =>
      db.pool.query(`alter function "${db.schema}".${from} rename to ${to}`);
    const planner = scripted("the plan");
    const model = new ScriptedChatModel({
      replies: [
        async () => {
          await rename("known_memories_1", "broken");
          return delegates(["planner", "Plan."]);
        },
        async () => {
          await rename("broken", "known_memories_1");
          return "Done.";
        },
      ],
    });
    const graph = await supervise({ memory, model, planner: { model: planner }, onError });
    const { messages } = await graph.invoke(says("Go."), config);
    expect(lines(messages).slice(-2)).toEqual([result, "ai: Done."]);
    expect(planner.calls.map(shownTalk)).toEqual(Array(calls).fill(["human: Plan."]));
    expect(logger.lines.filter((line) => line.startsWith("error"))).toEqual(
      Array(calls).fill(expect.stringMatching(/^error: recall failed for .* goes on without it/)),
    );
  });

  it("Servers that demand alternating roles take a task with memory in its text", async () => {
    const script: Script = (_, index) =>
      index > 0 ? "So it is." : { calls: [{ name: "planner", args: { task: "A plan." } }] };
    const { model, exchanges } = await start("strict compatible", script);
    const memory = db.memory();
    const { config } = await knownUser(memory);
    const team = { planner: undefined, executor: undefined, prompt: undefined };
    const graph = await supervise({ memory, model, injectAs: "text", ...(team as object) });
    await graph.invoke(says("Plan it."), config);
    expect(exchanges.flatMap(({ refused }) => refused ?? [])).toEqual([]);
    expect(JSON.stringify(exchanges[1]?.request)).toMatch(/allergic to peanuts[\s\S]*A plan\./);
  });
});

/** A graph that keeps the messages of its tasks. */
const stateful = (model: ScriptedChatModel) =>
  new StateGraph(MessagesAnnotation)
    .addNode("chat", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, "chat")
    .compile({ checkpointer: true });
