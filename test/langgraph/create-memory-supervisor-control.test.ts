import { AIMessageChunk } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import type { Subagent } from "../../src/langgraph/supervisor/create-memory-supervisor.js";
import {
  delegates,
  newThread,
  plainTool,
  says,
  scripted,
  shown,
  supervise,
  transcript,
} from "../support/supervisor-fixture.js";
import { useTestDatabase } from "../support/test-database.js";
import { lines } from "./conversation.js";

const db = useTestDatabase();

describe("a supervisor", () => {
  test.each(["saver of the memory", "saver in memory"])(
    "A run resumes an interrupt inside a subagent (%s)",
    async (kind) => {
      const memory = db.memory();
      const { config, address } = newThread();
      const model = scripted(delegates(["planner", "Plan."], ["executor", "Deploy."]), "Deployed.");
      const planner = scripted("the plan");
      const executor = scripted({ toolCalls: [{ name: "deploy", args: {} }] }, "It runs.");
      const graph = await supervise({
        memory,
        model,
        planner: { model: planner },
        executor: {
          model: executor,
          tools: [plainTool("deploy", () => `answer: ${interrupt("Deploy now?")}`)],
        },
        checkpointer: kind === "saver in memory" ? new MemorySaver() : memory.checkpointer(),
      });

      await graph.invoke(says("Go."), config);
      const { tasks } = await graph.getState(config);
      expect(tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value))).toEqual([
        "Deploy now?",
      ]);
      expect(await transcript(memory, address)).toEqual([]);

      const { messages } = await graph.invoke(new Command({ resume: "yes" }), config);
      expect(lines(messages).slice(-1)).toEqual(["ai: Deployed."]);
      expect(shown(executor.calls[1]).at(-1)).toBe("tool: answer: yes");
      expect([model, planner, executor].map(({ calls }) => calls.length)).toEqual([2, 1, 2]);
      expect(await transcript(memory, address)).toEqual(lines(messages));
    },
  );

  test("A supervisor streams the tokens of a subagent under its name", async () => {
    const model = scripted(delegates(["executor", "Do."]), "All is done.");
    const graph = await supervise({
      memory: db.memory(),
      model,
      executor: { model: scripted("I did it.") },
    });
    const tokens: Record<string, string[]> = { supervisor: [], executor: [] };
    const options = {
      ...newThread().config,
      streamMode: "messages" as const,
      subgraphs: true as const,
    };
    for await (const [namespace, [message]] of await graph.stream(says("Go."), options)) {
      if (!AIMessageChunk.isInstance(message) || message.text === "") continue;
      tokens[
        namespace.some((part) => part.startsWith("executor:")) ? "executor" : "supervisor"
      ]?.push(message.text);
    }
    expect(tokens).toEqual({
      executor: ["I", " did", " it."],
      supervisor: ["All", " is", " done."],
    });
  });

  test("A stateful subagent of a supervisor remembers its own tasks", async () => {
    const { config } = newThread();
    const [first, second] = [
      delegates(["planner", "first task"]),
      delegates(["planner", "second task"]),
    ];
    const planner = new StateGraph(Annotation.Root(MessagesAnnotation.spec))
      .addNode("plan", ({ messages }) => ({
        messages: [{ role: "ai", content: lines(messages).join("; ") }],
      }))
      .addEdge(START, "plan")
      .compile({ checkpointer: true });
    const graph = await supervise({
      memory: db.memory(),
      model: scripted(first, "One.", second, "Two."),
      planner,
    });
    await graph.invoke(says("Go."), config);
    const { messages } = await graph.invoke(says("Go on."), config);
    expect(lines(messages).at(-2)).toBe(
      "tool: human: first task; ai: human: first task; human: second task",
    );
  });

  test("A supervisor gets the error of a subagent that fails", async () => {
    const model = scripted(delegates(["executor", "Do."]), "Sorry.");
    const executor = { model: scripted(new Error("no such host")) };
    const graph = await supervise({ memory: db.memory(), model, executor });
    const { messages } = await graph.invoke(says("Go."), newThread().config);
    expect(lines(messages).slice(-2)).toEqual([
      expect.stringContaining("no such host"),
      "ai: Sorry.",
    ]);
  });

  test.each<[string, { name?: string; agent?: unknown }]>([
    ["a name no provider allows", { name: "proof.reader" }],
    ["a name that is taken", { name: "planner" }],
    ["the supervisor's own name", { name: "supervisor" }],
    ["a name too long for a tool", { name: "x".repeat(65) }],
    ["something that only looks like a graph", { agent: { invoke: async () => ({}) } }],
    [
      "a graph without messages",
      {
        agent: new StateGraph(Annotation.Root({ text: Annotation<string> }))
          .addNode("idle", () => ({}))
          .addEdge(START, "idle")
          .compile(),
      },
    ],
  ])("createMemorySupervisor refuses %s", async (_, { name = "other", agent = {} }) => {
    const agents = [{ name, description: "", agent: agent as Subagent }];
    await expect(supervise({ memory: db.memory(), agents })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  });
});
