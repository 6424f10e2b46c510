import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
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
import { z } from "zod";
import { createMemorySupervisor } from "../../src/index.js";
import type { Subagent } from "../../src/langgraph/supervisor/create-memory-supervisor.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { compiled } from "../support/compiled.js";
import { delegate, newThread, shown, silentModel, told, transcript } from "../support/supervisor-fixture.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const say = (text: string) => ({ messages: [new HumanMessage(text)] });

describe("a supervisor", () => {
  test.each(["saver of the memory", "saver in memory"])(
    "resumes an interrupt inside a subagent: %s",
    async (kind) => {
      const memory = db.memory();
      const { config, address } = newThread();
      const model = new ScriptedChatModel({
        replies: [
          { toolCalls: [delegate("planner", "Plan."), delegate("executor", "Deploy.")] },
          "Deployed.",
        ],
      });
      const planner = new ScriptedChatModel({ replies: ["the plan"] });
      const executor = new ScriptedChatModel({
        replies: [{ toolCalls: [{ name: "deploy", args: {} }] }, "It runs."],
      });
      const deploy = tool(() => `answer: ${interrupt("Deploy now?")}`, {
        name: "deploy",
        description: "Deploys.",
        schema: z.object({}),
      });
      const supervisor = await createMemorySupervisor({
        memory,
        model,
        planner: { model: planner },
        executor: { model: executor, tools: [deploy] },
      });
      const checkpointer = kind === "saver in memory" ? new MemorySaver() : memory.checkpointer();
      const graph = supervisor.compile({ checkpointer });

      await graph.invoke(say("Go."), config);
      const { tasks } = await graph.getState(config);
      expect(tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value))).toEqual([
        "Deploy now?",
      ]);
      expect(await transcript(memory, address)).toEqual([]);

      const { messages } = await graph.invoke(new Command({ resume: "yes" }), config);

      expect(told(messages).slice(-1)).toEqual(["ai: Deployed."]);
      expect(shown(executor.calls[1]).at(-1)).toBe("tool: answer: yes");
      expect([model, planner, executor].map(({ calls }) => calls.length)).toEqual([2, 1, 2]);
      expect(await transcript(memory, address)).toEqual(told(messages));
    },
  );

  test("works without a checkpointer: the transcript alone carries the conversation", async () => {
    const memory = db.memory();
    const { config } = newThread();
    const model = new ScriptedChatModel({
      replies: [{ toolCalls: [delegate("planner", "Plan.")] }, "Planned.", "As said."],
    });
    const supervisor = await createMemorySupervisor({
      memory,
      model,
      prompt: "Lead.",
      planner: { model: new ScriptedChatModel({ replies: ["the plan"] }) },
      executor: { model: silentModel() },
    });
    const graph = supervisor.compile();

    const first = await graph.invoke(say("Plan it."), config);
    await graph.invoke(say("What was it?"), config);

    expect(shown(model.calls[2])).toEqual(["system: Lead.", ...told(first.messages), "human: What was it?"]);
  });

  test("streams the tokens of a subagent, under its name", async () => {
    const { config } = newThread();
    const model = new ScriptedChatModel({
      replies: [{ toolCalls: [delegate("executor", "Do.")] }, "All is done."],
    });
    const supervisor = await createMemorySupervisor({
      memory: db.memory(),
      model,
      planner: { model: silentModel() },
      executor: { model: new ScriptedChatModel({ replies: ["I did it."] }) },
    });
    const graph = supervisor.compile({ checkpointer: new MemorySaver() });

    const tokens: Record<string, string[]> = { supervisor: [], executor: [] };
    const options = { ...config, streamMode: "messages" as const, subgraphs: true as const };
    for await (const [namespace, [message]] of await graph.stream(say("Go."), options)) {
      if (!AIMessageChunk.isInstance(message) || message.text === "") continue;
      const inExecutor = namespace.some((part) => part.startsWith("executor:"));
      tokens[inExecutor ? "executor" : "supervisor"]?.push(message.text);
    }

    expect(tokens).toEqual({ executor: ["I", " did", " it."], supervisor: ["All", " is", " done."] });
  });

  test("shows its subagents and their insides in the drawing", async () => {
    const supervisor = await createMemorySupervisor({
      memory: db.memory(),
      model: silentModel(),
      planner: {},
      executor: { tools: [tool(() => "", { name: "any", description: "Any.", schema: z.object({}) })] },
    });

    const { nodes } = await supervisor.compile().getGraphAsync({ xray: true });

    expect(Object.keys(nodes)).toEqual(
      expect.arrayContaining(["memory.recall", "memory.remember", "supervisor:tools:executor:tools"]),
    );
    expect(Object.keys(nodes).filter((name) => name.startsWith("supervisor:tools:planner"))).not.toEqual([]);
  });

  test("lets a subagent that keeps its own state remember its own tasks", async () => {
    const { config } = newThread();
    const model = new ScriptedChatModel({
      replies: [
        { toolCalls: [delegate("planner", "first task")] },
        "One.",
        { toolCalls: [delegate("planner", "second task")] },
        "Two.",
      ],
    });
    const planner = new StateGraph(Annotation.Root(MessagesAnnotation.spec))
      .addNode("plan", ({ messages }) => ({ messages: [{ role: "ai", content: told(messages).join("; ") }] }))
      .addEdge(START, "plan")
      .compile({ checkpointer: true });
    const supervisor = await createMemorySupervisor({
      memory: db.memory(),
      model,
      planner,
      executor: {},
    });
    const graph = supervisor.compile({ checkpointer: new MemorySaver() });

    await graph.invoke(say("Go."), config);
    const { messages } = await graph.invoke(say("Go on."), config);

    expect(told(messages).at(-2)).toBe("tool: human: first task; ai: human: first task; human: second task");
  });

  test("is refused without scope or thread, before any model is called", async () => {
    const supervisor = await createMemorySupervisor({
      memory: db.memory(),
      model: silentModel(),
      planner: {},
      executor: {},
    });
    const graph = supervisor.compile();

    const noScope = graph.invoke(say("Hi."), { configurable: { thread_id: "t" } });
    await expect(noScope).rejects.toMatchObject({ code: "SCOPE_REQUIRED" });
    const noThread = graph.invoke(say("Hi."), { configurable: { user_id: "ana" } });
    await expect(noThread).rejects.toMatchObject({ code: "INVALID_INPUT" });
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
  ])("refuses %s", async (_, { name = "other", agent = {} }) => {
    const made = createMemorySupervisor({
      memory: db.memory(),
      model: silentModel(),
      planner: {},
      executor: {},
      agents: [{ name, description: "", agent: agent as Subagent }],
    });
    await expect(made).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });
});

test("a subagent that fails answers with its error", async () => {
  const supervisor = await createMemorySupervisor({
    memory: db.memory(),
    model: new ScriptedChatModel({
      replies: [{ toolCalls: [delegate("executor", "Do.")] }, "Sorry."],
    }),
    planner: {},
    executor: { model: new ScriptedChatModel({ replies: [new Error("no such host")] }) },
  });
  const graph = supervisor.compile({ checkpointer: new MemorySaver() });
  const { messages } = await graph.invoke(say("Go."), newThread().config);
  expect(told(messages).slice(-2)).toEqual([expect.stringContaining("no such host"), "ai: Sorry."]);
});

test("a missing package is named with the command that installs it", () => {
  const folder = mkdtempSync(join(tmpdir(), "mnemograph-peers-"));
  try {
    // The sources beside all packages but `langchain`.
    cpSync(dirname(compiled("src/index")), join(folder, "src"), { recursive: true });
    const linkAll = (from: string, to: string, without: readonly string[]) => {
      mkdirSync(to);
      for (const name of readdirSync(from)) {
        if (!without.includes(name)) symlinkSync(resolve(from, name), join(to, name));
      }
    };
    linkAll("node_modules", join(folder, "node_modules"), ["langchain"]);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(
      join(folder, "main.js"),
      `import { createMemory, createMemorySupervisor, MemoryError } from "./src/index.js";
      await createMemorySupervisor({ model: {}, memory: createMemory() }).catch((error) =>
        console.log(MemoryError.is(error, "PEER_MISSING"), error.message));`,
    );

    const printed = execFileSync(process.execPath, ["main.js"], {
      cwd: folder,
      encoding: "utf8",
    });

    expect(printed).toMatch(/^true .*run `npm install langchain`/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
