import { randomUUID } from "node:crypto";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  Command,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type StreamMode,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Memory, withMemory } from "../../src/index.js";
import type { InjectAs } from "../../src/prompt/turn-messages.js";
import { ScriptedChatModel, type ScriptedReply } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  type AnyGraph,
  addressOf,
  answering,
  knownThread,
  lines,
  type newThread,
  say,
  streamed,
  toolAgent,
  userOf,
} from "./conversation.js";
import { agentIn, type Build, shownIn, states, type Way, ways } from "./ways.js";

const database = useTestDatabase();

/** What is remembered, and what was said in an earlier run that only the transcript holds. */
const remembered = "zanzibar";
const saidEarlier = "timbuktu";
const secrets = new RegExp(`${remembered}|${saidEarlier}|Long-term Memory|Previous context`);

/** A thread of a user of whom something is known, with a turn that no checkpoint holds. */
async function resumedThread(memory: Memory) {
  const thread = await knownThread(memory);
  const messages = [new HumanMessage(`I was in ${saidEarlier}.`)];
  await memory.record({ ...addressOf(thread), messages });
  return thread;
}

const streamMode: StreamMode[] = [
  "values",
  "updates",
  "messages",
  "custom",
  "tasks",
  "checkpoints",
  "debug",
];

const savers: Record<string, (memory: Memory) => BaseCheckpointSaver> = {
  "memory.checkpointer()": (memory) => memory.checkpointer(),
  PostgresSaver: () => new PostgresSaver(database.pool, undefined, { schema: database.schema }),
  MemorySaver: () => new MemorySaver(),
};

/** Every row that `saver` holds of the thread, whatever its namespace, as text. */
async function kept(saver: BaseCheckpointSaver, { configurable }: ReturnType<typeof newThread>) {
  if (saver instanceof MemorySaver) {
    const decoder = new TextDecoder();
    const texts: string[] = [];
    const collect = (value: unknown): void => {
      if (value instanceof Uint8Array) texts.push(decoder.decode(value));
      else if (typeof value === "string") texts.push(value);
      else if (typeof value === "object" && value !== null) Object.values(value).forEach(collect);
    };
    collect([saver.storage, saver.writes]);
    return texts;
  }
  const queries = [
    `select checkpoint::text || metadata::text as text from "${database.schema}".checkpoints where thread_id = $1`,
    ...["checkpoint_blobs", "checkpoint_writes"].map(
      (table) =>
        `select checkpoint_ns || convert_from(blob, 'utf8') as text from "${database.schema}".${table}
         where thread_id = $1 and blob is not null`,
    ),
  ];
  const rowsOf = (query: string) =>
    database.pool.query<{ text: string }>(query, [configurable.thread_id]);
  const found = await Promise.all(queries.map(rowsOf));
  return found.flatMap(({ rows }) => rows.map(({ text }) => text));
}

const asks = tool(() => interrupt<string, string>("Which?"), { name: "ask", schema: z.object({}) });
const call: ScriptedReply = { toolCalls: [{ name: "ask", args: {} }] };
const replies = [call, "done", "bye"];

/** A graph in a graph of which the outer one keeps copies of what it is shown. */
function copying({ memory, checkpointer, injectAs }: Build) {
  const { agent: inner, model } = toolAgent(replies, [asks]);
  const state = Annotation.Root({
    ...MessagesAnnotation.spec,
    copies: Annotation<{ of: BaseMessage[]; by: Map<string, BaseMessage> }>(),
  });
  const agent = new StateGraph(state)
    .addNode("copy", ({ messages }) => ({
      copies: {
        of: [...messages],
        by: new Map(messages.map((message) => [message.id ?? "", message])),
      },
    }))
    .addNode("inner", inner)
    .addEdge(START, "copy")
    .addEdge("copy", "inner")
    .compile();
  const graph = withMemory(agent, memory, { injectAs }).compile({ checkpointer: checkpointer! });
  return { model, graph: graph as unknown as AnyGraph };
}
async function stopping(kind: Way | "copies", build: Omit<Build, "model">) {
  const model = new ScriptedChatModel({ replies: replies });
  if (kind === "copies") return copying({ ...build, model });
  return { model, graph: await agentIn(kind, { ...build, model, tools: [asks] }) };
}

const kinds: readonly (Way | "copies")[] = [...ways, "copies"];
const injections: readonly InjectAs[] = ["message", "system", "text"];
const cases: readonly (readonly [Way | "copies", InjectAs, keyof typeof states])[] = [
  ...kinds.flatMap((kind) =>
    injections.map((injectAs) => [kind, injectAs, "StateSchema"] as const),
  ),
  ...(Object.keys(states) as (keyof typeof states)[]).map(
    (state) => ["nodes", "message", state] as const,
  ),
];

describe.each(Object.keys(savers))("with %s", (saverName) => {
  it.each(cases)(
    "An agent is shown recalled text, also after an interrupt, and no stream or checkpoint has it (%s, as %s, a state of %s)",
    async (kind, injectAs, state) => {
      const memory = database.memory();
      const thread = await resumedThread(memory);
      const checkpointer = savers[saverName]!(memory);
      const { graph, model } = await stopping(kind, { memory, checkpointer, injectAs, state });

      const input = { messages: [new HumanMessage("Where do I live?")] };
      const chunks = await streamed(graph, input, { ...thread, streamMode, subgraphs: true });
      expect(JSON.stringify(chunks)).toContain('"value":"Which?"');
      expect(JSON.stringify(chunks)).not.toMatch(secrets);
      expect((await kept(checkpointer, thread)).filter((text) => secrets.test(text))).toEqual([]);
      const { tasks } = await graph.getState(thread, { subgraphs: true });
      expect(JSON.stringify(tasks)).not.toMatch(secrets);

      const done = await graph.invoke(new Command({ resume: "this one" }), thread);
      await say(graph, "And now?", thread);
      const [before, after, later] = model.calls.map(shownIn);
      expect(before!.join()).toContain(remembered);
      expect(before!.join()).toContain(saidEarlier);
      const round = ["human: Where do I live?", "ai: (ask)", "tool: this one"];
      // A field of zod is checkpointed, as ids: a run that goes on is shown nothing by them.
      const shownAgain = /zod/i.test(state) ? before!.slice(-1) : before!;
      expect(after).toEqual([...shownAgain, ...round.slice(1)]);
      expect(lines(done.messages)).toEqual([...round, "ai: done"]);
      expect(later!.join()).toContain(remembered);
      const rows = await kept(checkpointer, thread);
      expect(rows.filter((text) => text.includes("Where do I live?")).length).toBeGreaterThan(0);
      expect(rows.filter((text) => secrets.test(text))).toEqual([]);
      const { gap } = await memory.recall(addressOf(thread));
      const told = [...lines(done.messages), "human: And now?", "ai: bye"];
      expect(lines(gap)).toEqual([`human: I was in ${saidEarlier}.`, ...told]);
    },
  );
});

describe("an agent with memory", () => {
  it("An agent with memory can go back to its pause, and is shown again what was recalled", async () => {
    const memory = database.memory();
    const thread = await resumedThread(memory);
    const checkpointer = memory.checkpointer();
    const model = new ScriptedChatModel({
      replies: (_, index) =>
        index % 2 === 0 ? { toolCalls: [{ name: "ask", args: {} }] } : `done ${index}`,
    });
    const graph = withMemory(createAgent({ model, tools: [asks] }) as never, memory).compile({
      checkpointer,
    });
    await say(graph, "Where do I live?", thread);
    await graph.invoke(new Command({ resume: "first" }), thread);

    const asked = model.calls.length;
    const history = [];
    for await (const snapshot of graph.getStateHistory(thread)) history.push(snapshot);
    const paused = history.find(({ tasks }) =>
      tasks.some(({ interrupts }) => interrupts.length > 0),
    )!;
    await graph.invoke(new Command({ resume: "second" }), paused.config);
    for (const { messages } of model.calls.slice(asked))
      expect(lines(messages).join()).toContain(remembered);
    expect((await kept(checkpointer, thread)).filter((text) => secrets.test(text))).toEqual([]);
  });

  it("A checkpoint keeps one placeholder for what was recalled, and all is shown again on resume", async () => {
    const memory = database.memory();
    const thread = await resumedThread(memory);
    const earlier = Array.from(
      { length: 8 },
      (_, index) => new HumanMessage(`Stop ${index} was a village.`),
    );
    await memory.record({ ...addressOf(thread), messages: earlier });
    const { agent, model } = toolAgent(["It is.", ...replies], [asks]);
    const checkpointer = memory.checkpointer();
    const graph = withMemory(agent, memory, { injectAs: "system" }).compile({ checkpointer });
    await say(graph, "Is it warm?", thread);
    await say(graph, "Where do I live?", thread);
    // It orders what the nodes of one step write.
    const paths = `select from "${database.schema}".checkpoint_writes where checkpoint_ns <> '' and task_path <> ''`;
    expect((await database.pool.query(paths)).rowCount).toBeGreaterThan(0);
    const { tasks } = await graph.getState(thread, { subgraphs: true });
    const inner = tasks[0]!.state as { values: { messages: BaseMessage[] } };
    expect(lines(inner.values.messages)).toEqual([
      expect.stringContaining("not kept in checkpoints"),
      "human: Where do I live?",
      "ai: (ask)",
    ]);

    const done = await graph.invoke(new Command({ resume: "this one" }), thread);
    const [, before, after] = model.calls.map(({ messages }) => lines(messages));
    expect(before!.length).toBe(13);
    expect(after).toEqual([...before!, "ai: (ask)", "tool: this one"]);
    const turns = [
      "human: Is it warm?",
      "ai: It is.",
      "human: Where do I live?",
      "ai: (ask)",
      "tool: this one",
    ];
    expect(lines(done.messages)).toEqual([...turns, "ai: done"]);
  });

  it("An agent is not shown what was forgotten during its interrupt", async () => {
    const memory = database.memory();
    const thread = await resumedThread(memory);
    const { agent, model } = toolAgent(replies, [asks]);
    const graph = withMemory(agent, memory).compile({ checkpointer: memory.checkpointer() });
    await say(graph, "Where do I live?", thread);
    const [known] = await memory.memories.list(userOf(thread));
    await memory.memories.remove({ ...userOf(thread), id: known!.id });
    await graph.invoke(new Command({ resume: "this one" }), thread);
    const after = lines(model.calls[1]!.messages).join();
    expect(after).not.toContain(`dish: ${remembered}`);
    expect(after).toContain(saidEarlier);
  });

  it("An agent with a saver of its own keeps nothing recalled in it", async () => {
    const memory = database.memory();
    const thread = await resumedThread(memory);
    const checkpointer = new MemorySaver();
    const model = answering();
    const agent = new StateGraph(MessagesAnnotation)
      .addNode("chat", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, "chat")
      .compile({ checkpointer, name: `own ${randomUUID()}` });
    await say(withMemory(agent, memory).compile(), "Where do I live?", thread);
    expect(lines(model.calls[0]!.messages).join()).toContain(remembered);
    const rows = await kept(checkpointer, thread);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter((text) => secrets.test(text))).toEqual([]);
  });
});
