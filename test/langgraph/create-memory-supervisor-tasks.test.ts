import { inspect } from "node:util";
import type { BaseMessage } from "@langchain/core/messages";
import { Command, interrupt } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
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
  supervise,
} from "../support/supervisor-fixture.js";
import { useTestDatabase } from "../support/test-database.js";
import { watchedPool } from "../support/watched-pool.js";
import { lines, streamed } from "./conversation.js";

const db = useTestDatabase();
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
