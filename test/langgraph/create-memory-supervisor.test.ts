import { inspect } from "node:util";
import type { BaseMessage, ToolMessage } from "@langchain/core/messages";
import { Command, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it, test } from "vitest";
import { type Memory, memoryMiddleware, withMemory } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { findEverywhere } from "../support/find-everywhere.js";
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
import { lines, streamed } from "./conversation.js";

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
    const names = ["planner", "executor", "Proof_reader-2", "leaver"];
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
    const leaver = new StateGraph(MessagesAnnotation)
      .addNode("leave", () => new Command({ graph: Command.PARENT, goto: "colleague" }), {
        ends: [],
      })
      .addEdge(START, "leave")
      .compile();
    const agents = [
      { name: "Proof_reader-2", description: "Reads proofs.", agent: reader },
      { name: "leaver", description: "Hands over.", agent: leaver },
    ];
    const graph = await supervise({ memory: db.memory(), model, planner, executor, agents });
    const { messages } = await graph.invoke(says("Go."), newThread().config);
    expect(lines(messages.filter((message) => message.getType() === "tool"))).toEqual([
      "tool: plan of a task",
      "tool: executed it",
      "tool: (Proof_reader-2 finished without an answer.)",
      "tool: (leaver finished without an answer.)",
    ]);
    expect(model.calls[0]?.toolNames).toEqual([...names, "memory_query"]);
    expect(model.calls[0]?.tools[2]).toMatchObject({
      description: "Reads proofs. Proof_reader-2 sees only `task` of this conversation.",
    });
  });
});

const forms = ["message", "system", "text"] as const;

const allowlists = {
  supervisor: ["profile", "constraints"],
  planner: ["constraints", "tasks", "interests"],
  reader: ["constraints", "preferences"],
};

/** A new thread of a user; the words of what is known of them, the last one not always shown. */
async function knownUser(memory: Memory) {
  const { config, address } = newThread();
  const drafts = [
    { category: "constraints", text: "The user is allergic to peanuts." },
    { category: "tasks", text: "The user's trip to Quito is due.", pinned: true },
    { category: "preferences", text: "The user prefers zinc pans." },
    { category: "profile", key: "employer", value: "Timbuktu", text: "It is Timbuktu." },
    { category: "interests", text: "The user collects fossils." },
  ];
  await memory.memories.add({ ...address, memories: drafts });
  return config;
}
type Chunk = [namespace: string[], mode: string, state: { messages: BaseMessage[] }];
const words = ["peanuts", "Quito", "zinc", "Timbuktu", "fossils"];
const knownIn = (value: unknown) =>
  words.filter((word) => inspect(value, false, 30).includes(word));

const ask = plainTool("ask", () => `answer: ${interrupt("Which?")}`);
/** Subagents that ask before they answer, some of them with memory of their own. */
const readers: Record<string, (model: ScriptedChatModel, memory: Memory) => unknown> = {
  "a definition": (model) => ({ model, tools: [ask] }),
  "a result of createAgent": (model) => createAgent({ model, tools: [ask] }),
  memoryMiddleware: (model, memory) =>
    createAgent({
      model,
      tools: [ask],
      middleware: [memoryMiddleware(memory, { agent: "reader" })],
    }),
  withMemory: (model, memory) =>
    withMemory(createAgent({ model, tools: [ask] }), memory, { agent: "reader" }).compile(),
};

describe("a supervisor's subagent", () => {
  it.each(
    Object.keys(readers).flatMap((kind) => forms.map((injectAs) => [kind, injectAs] as const)),
  )(
    "A supervisor and its subagents are shown what each may read, also after an interrupt, and nothing keeps it (%s, as %s)",
    async (kind, injectAs) => {
      const { pool, statements } = watchedPool(db.pool);
      const memory = db.memory({ database: pool, config: { allowlists } });
      const config = await knownUser(memory);
      const model = scripted(delegates(["planner", "Plan it."], ["reader", "Read it."]), "Done.");
      const [planner, reader] = [
        scripted("the plan"),
        scripted({ toolCalls: [{ name: "ask", args: {} }] }, "Read."),
      ];
      const agent = readers[kind]!(reader, memory) as never;
      const graph = await supervise({
        memory,
        model,
        injectAs,
        planner: { model: planner },
        agents: [{ name: "reader", description: "Reads.", agent }],
        checkpointer: memory.checkpointer(),
      });
      statements.length = 0;
      const streamMode = ["values", "updates", "messages", "custom"] as const;
      const options = { ...config, streamMode: [...streamMode], subgraphs: true };
      const chunks = (await streamed(graph, says("Go."), options)) as Chunk[];
      expect(statements.filter(({ text }) => text.includes("known_memories_1"))).toHaveLength(3);
      const done = await graph.invoke(new Command({ resume: "this" }), config);
      expect(lines(done.messages).slice(1)).toEqual([
        "ai: (planner) (reader)",
        "tool: the plan",
        "tool: Read.",
        "ai: Done.",
      ]);

      expect(knownIn(model.calls[0]!.messages)).toEqual(["peanuts", "Timbuktu"]);
      const [planned, read, resumed] = [...planner.calls, ...reader.calls].map(shown);
      expect([planned, read].map(knownIn)).toEqual([
        ["peanuts", "Quito"],
        ["peanuts", "zinc"],
      ]);
      expect(read!.join().match(/# Long-term Memory/g)).toHaveLength(1);
      expect(resumed).toEqual([...read!, "ai: (ask)", "tool: answer: this"]);
      expect(planned!.slice(1).join("\n")).toMatch(
        {
          message: /^human: \[Previous context: # Long-term [^\0]*\.\]\nhuman: Plan it\.$/,
          text: /^human: \[Previous context: # Long-term [^\0]*\.\]\n\nPlan it\.$/,
        }[injectAs === "text" ? "text" : "message"],
      );
      const values = chunks.filter(([at, mode]) => mode === "values" && /planner:/.test(at.join()));
      expect(lines(values.at(-1)![2].messages)).toEqual(["human: Plan it.", "ai: the plan"]);
      expect(knownIn([chunks, done, await graph.getState(config, { subgraphs: true })])).toEqual(
        [],
      );
      for (const word of words)
        expect(Object.keys(await findEverywhere(db, word)).join()).not.toMatch(
          /checkpoint|message/,
        );
    },
  );

  it.each([
    [{ onError: "continue" }, "the plan"],
    [{ onError: "throw" }, "MemoryError: The database"],
    [{ memoryMode: "passive" }, "the plan"],
  ] as const)("With %o a task whose recall would fail has a result", async (options, result) => {
    const memory = db.memory();
    const config = await knownUser(memory);
    const sound: [string, string] = ["known_memories_1", "broken"];
    const rename = (from: string, to: string) =>
      db.pool.query(`alter function "${db.schema}".${from} rename to ${to}`);
    const planner = scripted("the plan");
    const model = new ScriptedChatModel({
      replies: async (_, index) => {
        await rename(...(index === 0 ? sound : (sound.toReversed() as typeof sound)));
        return index === 0 ? delegates(["planner", "Plan it."]) : "Done.";
      },
    });
    const graph = await supervise({ memory, model, planner: { model: planner }, ...options });
    const { messages } = await graph.invoke(says("Go."), config);
    expect(messages.at(-2)?.text).toContain(result);
    expect(planner.calls.flatMap(({ messages }) => knownIn(messages))).toEqual([]);
  });
});
