import { AIMessageChunk } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import type { Subagent } from "../../src/langgraph/supervisor/create-memory-supervisor.js";
import { delegates, newThread, says, scripted, supervise } from "../support/supervisor-fixture.js";
import { useTestDatabase } from "../support/test-database.js";
import { lines } from "./conversation.js";

const db = useTestDatabase();

describe("a supervisor", () => {
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
