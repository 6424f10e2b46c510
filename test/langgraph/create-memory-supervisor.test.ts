import type { ToolMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, test } from "vitest";
import { ScriptedChatModel } from "../../src/testing/index.js";
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
import { lines } from "./conversation.js";

const db = useTestDatabase();

describe("a supervisor", () => {
  test("A supervisor gives each subagent its task alone and gets its last message alone", async () => {
    const memory = db.memory();
    const { config, address } = newThread();
    const model = scripted(
      delegates(["planner", "Plan a shop for Ana."], ["planner", "Plan a sign."]),
      { ...delegates(["executor", "Create the table."]), text: "Now the table." },
      ...["The shop is ready.", "You are welcome."],
    );
    const planner = new ScriptedChatModel({
      replies: (messages) => (messages.at(-1)?.text === "Plan a sign." ? "1. wood" : "1. a table"),
    });
    const runSql = { toolCalls: [{ name: "run_sql", args: {} }], text: "private thought" };
    const executor = scripted(runSql, "Table created.");
    const graph = await supervise({
      memory,
      model,
      planner: { model: planner, prompt: "You plan." },
      executor: { model: executor, tools: [plainTool("run_sql", () => "secret rows")] },
    });
    const { messages } = await graph.invoke(says("I am Ana. Build me a shop."), config);

    expect(planner.calls.map(shown)).toEqual([
      ["system: You plan.", "human: Plan a shop for Ana."],
      ["system: You plan.", "human: Plan a sign."],
    ]);
    expect(shownTalk(executor.calls[0])).toEqual(["human: Create the table."]);
    const round = [
      "human: I am Ana. Build me a shop.",
      "ai: (planner) (planner)",
      "tool: 1. a table",
      "tool: 1. wood",
      "ai: Now the table. (executor)",
      "tool: Table created.",
      "ai: The shop is ready.",
    ];
    expect([lines(messages), shown(model.calls[2])]).toEqual([
      round,
      ["system: Lead.", ...round.slice(0, -1)],
    ]);
    // The transcript writes a call with its arguments; inside a subagent stays inside.
    expect(await transcript(memory, address)).toEqual(round);
    await graph.invoke(says("Thanks."), config);
    expect(shown(model.calls[3])).toEqual(["system: Lead.", ...round, "human: Thanks."]);
    expect(await transcript(memory, address)).toEqual([
      ...round,
      "human: Thanks.",
      "ai: You are welcome.",
    ]);
    expect(JSON.stringify((await memory.recall(address)).gap)).not.toMatch(
      /private thought|secret rows/,
    );
  });

  test.each([
    { planner: undefined, executor: undefined },
    { planner: { tools: [plainTool("clock", () => "noon")] }, executor: { model: undefined } },
  ])(
    "A supervisor's planner and executor keep its model and tools and their own prompt: %j",
    async (subagents) => {
      const model = scripted(
        ...[
          delegates(["planner", "Plan a shop."]),
          "1. a table",
          delegates(["executor", "Create the table."]),
        ],
        ...[{ toolCalls: [{ name: "run_sql", args: {} }] }, "Table created.", "The shop is ready."],
      );
      const tools = [plainTool("run_sql", () => "done")];
      const graph = await supervise({
        memory: db.memory(),
        model,
        tools,
        ...(subagents as object),
      });
      const { messages } = await graph.invoke(says("Build me a shop."), newThread().config);
      expect(messages.at(-1)?.text).toBe("The shop is ready.");
      const instructions = expect.stringMatching(/^system: .*numbered list of steps/);
      expect(shown(model.calls[1])).toEqual([instructions, "human: Plan a shop."]);
      expect(shown(model.calls[4])).toEqual([
        expect.stringMatching(/^system: .*report the result/),
        ...["human: Create the table.", "ai: (run_sql)", "tool: done"],
      ]);
    },
  );

  test("A call without a task gets an error, and no subagent runs", async () => {
    const noTask = { toolCalls: [{ name: "planner", args: {} }] };
    const model = scripted(noTask, delegates(["planner", "Plan it."]), "Planned.");
    const planner = scripted("the plan");
    const graph = await supervise({ memory: db.memory(), model, planner: { model: planner } });
    const { messages } = await graph.invoke(says("Plan."), newThread().config);
    expect([planner.calls.map(shownTalk), (messages[2] as ToolMessage).status]).toEqual([
      [["human: Plan it."]],
      "error",
    ]);
    expect(lines(messages).slice(-2)).toEqual(["tool: the plan", "ai: Planned."]);
  });

  test('A supervisor with delegations "hidden" keeps only the question and the answer', async () => {
    const memory = db.memory();
    const { config, address } = newThread();
    const model = scripted(
      { ...delegates(["planner", "Plan."]), text: "One moment." },
      ...[delegates(["executor", "Do."]), "Here it is.", "Bye."],
    );
    const subagents = {
      planner: { model: scripted("the plan") },
      executor: { model: scripted("the work") },
    };
    const graph = await supervise({ memory, model, delegations: "hidden", ...subagents });
    await graph.invoke(says("Go."), config);
    expect(shown(model.calls[2])).toEqual(
      expect.arrayContaining(["tool: the plan", "tool: the work"]),
    );
    const { messages } = await graph.invoke(says("Thanks."), config);

    const conversation = ["human: Go.", "ai: Here it is.", "human: Thanks.", "ai: Bye."];
    expect(lines(messages)).toEqual(conversation);
    expect(await transcript(memory, address)).toEqual(conversation);
    expect(shown(model.calls[3])).toEqual(["system: Lead.", ...conversation.slice(0, 3)]);
  });

  test("A supervisor accepts compiled graphs, results of createAgent, and agents of any name", async () => {
    const names = ["planner", "executor", "Proof_reader-2"];
    const model = scripted(...names.map((name) => delegates([name, "a task"])), "Done.");
    const planner = new StateGraph(MessagesAnnotation)
      .addNode("plan", ({ messages }) => ({
        messages: [{ role: "ai", content: `plan of ${messages[0]?.text}` }],
      }))
      .addEdge(START, "plan")
      .compile();
    const executor = createAgent({ model: scripted("  executed it \n"), tools: [] });
    const reader = new StateGraph(MessagesAnnotation)
      .addNode("mute", () => ({ messages: [] }))
      .addNode("blank", () => ({ messages: [{ role: "ai", content: " " }] }))
      .addEdge(START, "mute")
      .addEdge("mute", "blank")
      .compile();
    const agents = [{ name: "Proof_reader-2", description: "Reads proofs.", agent: reader }];
    const graph = await supervise({ memory: db.memory(), model, planner, executor, agents });
    const { messages } = await graph.invoke(says("Go."), newThread().config);
    expect(lines(messages.filter((message) => message.getType() === "tool"))).toEqual([
      "tool: plan of a task",
      "tool: executed it",
      "tool: (Proof_reader-2 finished without an answer.)",
    ]);
    expect(model.calls[0]?.toolNames).toEqual([...names, "memory_query"]);
    expect(model.calls[0]?.tools[2]).toMatchObject({
      description: "Reads proofs. Proof_reader-2 sees only `task` of this conversation.",
    });
  });
});
