import { type AIMessage, HumanMessage, type ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createMemorySupervisor } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { delegate, newThread, shown, silentModel, told, transcript } from "../support/supervisor-fixture.js";
import { useTestDatabase } from "../support/test-database.js";
import { summaryBlock } from "./conversation.js";

const db = useTestDatabase();
const prompt = "Lead.";
const say = (text: string) => ({ messages: [new HumanMessage(text)] });

describe("a supervisor", () => {
  test("gives each subagent its task alone and gets its last message alone", async () => {
    const memory = db.memory();
    const { config, address } = newThread();
    const model = new ScriptedChatModel({
      replies: [
        { toolCalls: [delegate("planner", "Plan a shop for Ana.")] },
        { toolCalls: [delegate("executor", "Create the table.")], text: "Now the table." },
        "The shop is ready.",
        "You are welcome.",
      ],
    });
    const planner = new ScriptedChatModel({ replies: ["1. a table"] });
    const executor = new ScriptedChatModel({
      replies: [{ toolCalls: [{ name: "run_sql", args: {} }], text: "private thought" }, "Table created."],
    });
    const runSql = tool(() => "secret rows", { name: "run_sql", description: "SQL", schema: z.object({}) });
    const supervisor = await createMemorySupervisor({
      memory,
      model,
      prompt,
      planner: { model: planner, prompt: "You plan." },
      executor: { model: executor, tools: [runSql] },
    });
    const graph = supervisor.compile({ checkpointer: new MemorySaver() });

    const { messages } = await graph.invoke(say("I am Ana. Build me a shop."), config);

    expect(planner.calls.map(shown)).toEqual([["system: You plan.", "human: Plan a shop for Ana."]]);
    expect(shown(executor.calls[0])).toEqual(["human: Create the table."]);
    const round = [
      "human: I am Ana. Build me a shop.",
      "ai: →planner",
      "tool: 1. a table",
      "ai: Now the table. →executor",
      "tool: Table created.",
      "ai: The shop is ready.",
    ];
    expect(told(messages)).toEqual(round);
    expect(shown(model.calls[2])).toEqual(["system: Lead.", ...round.slice(0, -1)]);

    // The transcript writes a call with its arguments; inside a subagent stays inside.
    expect(await transcript(memory, address)).toEqual(round);
    await graph.invoke(say("Thanks."), config);
    expect(shown(model.calls[3])).toEqual(["system: Lead.", ...round, "human: Thanks."]);
    expect(await transcript(memory, address)).toEqual([...round, "human: Thanks.", "ai: You are welcome."]);
    expect(JSON.stringify((await memory.recall(address)).gap)).not.toMatch(/private thought|secret rows/);
  });

  test("makes a planner and an executor of its model and its tools where none is given", async () => {
    const { config } = newThread();
    const model = new ScriptedChatModel({
      replies: [
        { toolCalls: [delegate("planner", "Plan a shop.")] },
        "1. a table",
        { toolCalls: [delegate("executor", "Create the table.")] },
        { toolCalls: [{ name: "run_sql", args: {} }] },
        "Table created.",
        "The shop is ready.",
      ],
    });
    const runSql = tool(() => "done", { name: "run_sql", description: "SQL", schema: z.object({}) });
    const supervisor = await createMemorySupervisor({ memory: db.memory(), model, tools: [runSql] });
    const { messages } = await supervisor.compile().invoke(say("Build me a shop."), config);
    expect(messages.at(-1)?.text).toBe("The shop is ready.");
    expect(shown(model.calls[1])).toEqual([
      expect.stringMatching(/^system: .*numbered list of steps/),
      "human: Plan a shop.",
    ]);
    expect(shown(model.calls[4])).toEqual([
      expect.stringMatching(/^system: .*report the result/),
      "human: Create the table.",
      "ai: →run_sql",
      "tool: done",
    ]);
  });

  test("is shown the summary and what came after it; its subagents are not", async () => {
    const summary = { structured: { reasoning: "new", summary: "Ana wants a shop." } };
    const memory = db.memory({
      model: new ScriptedChatModel({ replies: [summary, new Error("overloaded")] }),
      config: { summaries: { afterSeq: 3, keepRecentMessages: 0 } },
    });
    const { config, address } = newThread();
    const model = new ScriptedChatModel({
      replies: [
        { toolCalls: [delegate("planner", "Plan the shop.")] },
        "Planned.",
        "Blue it is.",
        { toolCalls: [delegate("executor", "Paint it blue.")] },
        "Painted.",
      ],
    });
    const executor = new ScriptedChatModel({ replies: ["Done."] });
    const supervisor = await createMemorySupervisor({
      memory,
      model,
      prompt,
      planner: { model: new ScriptedChatModel({ replies: ["the plan"] }) },
      executor: { model: executor },
    });
    const graph = supervisor.compile({ checkpointer: new MemorySaver() });

    await graph.invoke(say("A shop, please."), config);
    await graph.invoke(say("In blue."), config);
    await graph.invoke(say("Go on."), config);

    const statuses = (await memory.summaries.list(address)).map(({ startSeq, endSeq, status }) => [
      startSeq,
      endSeq,
      status,
    ]);
    expect(statuses.slice(0, 2)).toEqual([
      [0, 3, "completed"],
      [0, 5, "failed"],
    ]);
    const block = `system: ${summaryBlock("1-1", "Ana wants a shop.")}`;
    expect(shown(model.calls[3])).toEqual([
      "system: Lead.",
      block,
      "human: In blue.",
      "ai: Blue it is.",
      "human: Go on.",
    ]);
    expect(executor.calls.map(shown)).toEqual([["human: Paint it blue."]]);
  });

  test("answers every tool call of a message once, whatever it calls", async () => {
    const { config } = newThread();
    const calls = [
      delegate("planner", "Plan."),
      { name: "clock", args: {} },
      delegate("executor", "First."),
      delegate("executor", "Second."),
    ];
    const model = new ScriptedChatModel({ replies: [{ toolCalls: calls }, "All done."] });
    const executor = new ScriptedChatModel({ replies: ([task]) => `${task?.text} Finished.` });
    const supervisor = await createMemorySupervisor({
      memory: db.memory(),
      model,
      prompt,
      planner: { model: new ScriptedChatModel({ replies: ["the plan"] }) },
      executor: { model: executor },
      tools: [tool(() => "noon", { name: "clock", description: "The time.", schema: z.object({}) })],
    });

    const { messages } = await supervisor
      .compile({ checkpointer: new MemorySaver() })
      .invoke(say("Go."), config);

    const asked = (messages[1] as AIMessage).tool_calls?.map(({ id }) => id);
    const answers = messages.slice(2, -1) as ToolMessage[];
    expect(answers.map(({ tool_call_id }) => tool_call_id).sort()).toEqual(asked?.sort());
    expect(answers.map(({ text }) => text).sort()).toEqual([
      "First. Finished.",
      "Second. Finished.",
      "noon",
      "the plan",
    ]);
    expect(executor.calls.map(shown).sort()).toEqual([["human: First."], ["human: Second."]]);
    expect(shown(model.calls[1])).toHaveLength(1 + 1 + 1 + 4);
  });

  test("is told of a call without a task, and no subagent runs for it", async () => {
    const { config } = newThread();
    const model = new ScriptedChatModel({
      replies: [
        { toolCalls: [{ ...delegate("planner", ""), args: {} }] },
        { toolCalls: [delegate("planner", "Plan it.")] },
        "Planned.",
      ],
    });
    const planner = new ScriptedChatModel({ replies: ["the plan"] });
    const supervisor = await createMemorySupervisor({
      memory: db.memory(),
      model,
      planner: { model: planner },
      executor: { model: silentModel() },
    });

    const { messages } = await supervisor
      .compile({ checkpointer: new MemorySaver() })
      .invoke(say("Plan."), config);

    expect(planner.calls.map(shown)).toEqual([["human: Plan it."]]);
    expect((messages[2] as ToolMessage).status).toBe("error");
    expect(told(messages).slice(-2)).toEqual(["tool: the plan", "ai: Planned."]);
  });

  test('with delegations "hidden" keeps only the question and the answer', async () => {
    const memory = db.memory();
    const { config, address } = newThread();
    const model = new ScriptedChatModel({
      replies: [
        { toolCalls: [delegate("planner", "Plan.")], text: "One moment." },
        { toolCalls: [delegate("executor", "Do.")] },
        "Here it is.",
        "Bye.",
      ],
    });
    const supervisor = await createMemorySupervisor({
      memory,
      model,
      prompt,
      delegations: "hidden",
      planner: { model: new ScriptedChatModel({ replies: ["the plan"] }) },
      executor: { model: new ScriptedChatModel({ replies: ["the work"] }) },
    });
    const graph = supervisor.compile({ checkpointer: new MemorySaver() });

    await graph.invoke(say("Go."), config);
    expect(shown(model.calls[2])).toEqual(expect.arrayContaining(["tool: the plan", "tool: the work"]));
    const { messages } = await graph.invoke(say("Thanks."), config);

    const conversation = ["human: Go.", "ai: Here it is.", "human: Thanks.", "ai: Bye."];
    expect(told(messages)).toEqual(conversation);
    expect(await transcript(memory, address)).toEqual(conversation);
    expect(shown(model.calls[3])).toEqual(["system: Lead.", ...conversation.slice(0, 3)]);
  });

  test("takes compiled graphs, results of createAgent, and agents of any name", async () => {
    const { config } = newThread();
    const model = new ScriptedChatModel({
      replies: [
        { toolCalls: [delegate("planner", "a")] },
        { toolCalls: [delegate("executor", "b")] },
        { toolCalls: [delegate("Proof_reader-2", "c")] },
        "Done.",
      ],
    });
    const planner = new StateGraph(MessagesAnnotation)
      .addNode("plan", ({ messages }) => ({
        messages: [{ role: "ai", content: `plan of ${messages[0]?.text}` }],
      }))
      .addEdge(START, "plan")
      .compile();
    const executor = createAgent({
      model: new ScriptedChatModel({ replies: ["  executed b \n"] }),
      tools: [],
    });
    const reader = new StateGraph(MessagesAnnotation)
      .addNode("mute", () => ({ messages: [] }))
      .addNode("blank", () => ({ messages: [{ role: "ai", content: " " }] }))
      .addEdge(START, "mute")
      .addEdge("mute", "blank")
      .compile();
    const supervisor = await createMemorySupervisor({
      memory: db.memory(),
      model,
      planner,
      executor,
      agents: [{ name: "Proof_reader-2", description: "Reads proofs.", agent: reader }],
    });

    const { messages } = await supervisor
      .compile({ checkpointer: new MemorySaver() })
      .invoke(say("Go."), config);

    expect(told(messages.filter((message) => message.getType() === "tool"))).toEqual([
      "tool: plan of a",
      "tool: executed b",
      "tool: (Proof_reader-2 finished without an answer.)",
    ]);
    expect(model.calls[0]?.toolNames).toEqual([...["planner", "executor", "Proof_reader-2"], "memory_query"]);
    expect(model.calls[0]?.tools[2]).toMatchObject({
      description: "Reads proofs. Proof_reader-2 sees nothing of this conversation, only `task`.",
    });
  });
});
