import { AIMessageChunk, ToolMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import type { Memory } from "../../src/index.js";
import type { Subagent } from "../../src/langgraph/supervisor/create-memory-supervisor.js";
import {
  delegates,
  newThread,
  plainTool,
  says,
  scripted,
  shown,
  supervise,
} from "../support/supervisor-fixture.js";
import { useTestDatabase } from "../support/test-database.js";
import { lines } from "./conversation.js";

const db = useTestDatabase();
const query = (args: Record<string, unknown>) => ({ toolCalls: [{ name: "memory_query", args }] });
const allowlists = {
  supervisor: ["profile", "goals", "tasks"],
  planner: ["goals", "tasks", "projects"],
};
async function known(memory: Memory) {
  const { config, address } = newThread();
  await memory.memories.add({
    ...address,
    memories: [
      { category: "tasks", text: "The release of Phoenix is due on Friday." },
      { category: "preferences", text: "The user prefers releases without a party." },
      { category: "knowledge", text: "The release of Phoenix is built with Bazel." },
    ],
  });
  return config;
}

describe("memory of a supervisor", () => {
  test.each(["configurable", "context"])(
    "Agents of a supervisor query by their own allowlists, for the user in %s",
    async (where) => {
      const memory = db.memory({ config: { allowlists } });
      const { configurable } = await known(memory);
      await known(memory);
      const model = scripted(
        query({ query: "release" }),
        delegates(["planner", "Plan the release."]),
        "Ok.",
      );
      const planner = scripted(query({ query: "release" }), "the plan");
      const graph = await supervise({ memory, model, planner: { model: planner } });
      const { thread_id, user_id: userId } = configurable;
      const run =
        where === "context"
          ? { configurable: { thread_id }, context: { userId } }
          : { configurable };
      await graph.invoke(says("Release it."), run as never);

      // Not what others may read, nor what is known of another user.
      const planned = '"[tasks] The release of Phoenix is due on Friday."';
      for (const { messages } of [planner.calls[1]!, model.calls[1]!]) {
        const answer = messages.findLast((message) => ToolMessage.isInstance(message))!.text;
        expect(answer.match(/"\[[a-z]+\] [^"]+"/g)).toEqual([planned]);
      }
    },
  );

  test("Only the supervisor, not a subagent, is advised to ask the user", async () => {
    const { config } = newThread();
    const none = query({ query: "the weather on Mars" });
    const planner = scripted(none, "the plan");
    const model = scripted(none, delegates(["planner", "Plan."]), "Ok.");
    await (await supervise({ memory: db.memory(), model, planner: { model: planner } })).invoke(
      says("Go."),
      config,
    );
    expect(shown(model.calls[1])).toContain(
      "tool: No memory fits. Ask the user if you need to know.",
    );
    expect(shown(planner.calls[1])).toContain("tool: No memory fits.");
  });

  test("A subagent gets memory's query tool unless it is a graph or has a tool of that name", async () => {
    const own = plainTool("memory_query", () => "mine");
    const [planner, executor] = [scripted("the plan"), scripted("done")];
    const reader = new StateGraph(MessagesAnnotation)
      .addNode("read", () => ({ messages: [{ role: "ai", content: "read" }] }))
      .addEdge(START, "read")
      .compile();
    const model = scripted(
      delegates(["planner", "Go."], ["executor", "Go."], ["reader", "Go."]),
      "Ok.",
    );
    const graph = await supervise({
      memory: db.memory(),
      model,
      planner: { model: planner },
      executor: { model: executor, tools: [own] },
      agents: [{ name: "reader", description: "Reads.", agent: reader }],
    });
    expect((await graph.invoke(says("Go."), newThread().config)).messages.at(-1)?.text).toBe("Ok.");
    const [leads, plans, executes] = [model, planner, executor].map(({ calls }) =>
      (calls[0]?.tools as { name: string }[] | undefined)?.filter(({ name }) => name === own.name),
    );
    expect([leads, plans, executes].map((tools) => tools?.length)).toEqual([1, 1, 1]);
    expect(plans?.[0]).toMatchObject({ description: expect.stringContaining("long-term memory") });
    expect(executes?.[0]).toMatchObject({ description: own.description });
  });
});

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
