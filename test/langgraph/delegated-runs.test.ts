import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Memory, memoryManageTool, memoryMiddleware, withMemory } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { findEverywhere } from "../support/find-everywhere.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  type AnyGraph,
  addressOf,
  answering,
  chatAgent,
  converse,
  knownThread,
  lines,
  newThread,
  oneNode,
  say,
  userOf,
} from "./conversation.js";
import { agentIn, ways } from "./ways.js";

const db = useTestDatabase();
const task = "Find restaurants in Lisbon. The user is vegan.";

/** A memory whose model extracts the vegan's fact from any message with it. */
function learning() {
  const said = (prompt: string) => prompt.includes("The user is vegan.");
  const model = taskModel({
    fact_extraction: (prompt) =>
      facts(...(said(prompt) ? [candidate("The user is vegan.", "The user is vegan.")] : [])),
  });
  const config = { memories: { extract: true, episodes: true }, summaries: { afterSeq: 1 } };
  return db.memory({ model, config });
}

/** A tool that calls `agent` with its argument as a user message. */
function askTool(agent: unknown) {
  const ask = async ({ task }: { task: string }) =>
    (
      await (agent as AnyGraph).invoke({ messages: [{ role: "user", content: task }] }, {})
    ).messages.at(-1)!.text;
  return tool(ask, { name: "ask", description: "Asks.", schema: z.object({ task: z.string() }) });
}

const asksFor = (words: string) => ({ toolCalls: [{ name: "ask", args: { task: words } }] });

async function usersLines(memory: Memory, thread: ReturnType<typeof newThread>) {
  const messages = await memory.threads.messages(addressOf(thread));
  return messages.flatMap(({ role, text }) =>
    role === "user" || role === "other" ? `${role}: ${text}` : [],
  );
}

/** Every message of a user's delegated threads, as "role: text". */
async function delegated(thread: ReturnType<typeof newThread>) {
  const { rows } = await db.pool.query<{ line: string }>(
    `select m.role || ': ' || m.content as line from "${db.schema}".message m
     join "${db.schema}".thread t on t.id = m.thread_ref
     where t.user_id = $1 and t.thread_id <> $2 order by t.id, m.seq`,
    [thread.configurable.user_id, thread.configurable.thread_id],
  );
  return rows.map(({ line }) => line);
}

describe("an agent in a tool of an agent", () => {
  it.each([...ways, "no memory"] as const)(
    "An agent in a tool of an agent recalls, and records no task as the user's words (%s)",
    async (way) => {
      const memory = learning();
      const thread = await knownThread(memory);
      const sub = new ScriptedChatModel({ replies: ["Place A.", "Place B."] });
      const subagent = createAgent({
        model: sub,
        tools: [],
        middleware: [memoryMiddleware(memory)],
      });
      const model = new ScriptedChatModel({
        replies: [asksFor(task), "At Place A.", asksFor("Another in Lisbon."), "At Place B."],
      });
      const tools = [askTool(subagent)];
      const main =
        way === "no memory"
          ? createAgent({ model, tools })
          : await agentIn(way, { memory, model, tools });
      for (const question of ["Restaurants in Lisbon please", "And another?"])
        await say(main, question, thread);

      expect(sub.calls.map(({ messages }) => lines(messages))).toEqual([
        [expect.stringContaining("zanzibar"), `human: ${task}`],
        [expect.stringContaining("zanzibar"), "human: Another in Lisbon."],
      ]);
      for (const { messages } of model.calls)
        expect(lines(messages)).not.toContain(`human: ${task}`);
      expect(await delegated(thread)).toEqual([
        `other: ${task}`,
        "assistant: Place A.",
        "other: Another in Lisbon.",
        "assistant: Place B.",
      ]);
      expect(await usersLines(memory, thread)).toEqual(
        way === "no memory" ? [] : ["user: Restaurants in Lisbon please", "user: And another?"],
      );
      const { scope } = addressOf(thread);
      expect((await memory.memories.list({ scope })).map(({ key }) => key)).toEqual(["dish"]);
      const talks = (await memory.threads.list({ scope })).map(({ threadId }) => threadId);
      expect(talks).toEqual(way === "no memory" ? [] : [thread.configurable.thread_id]);
    },
  );

  it("memoryManageTool without middleware does not treat a subagent's task as the user's request", async () => {
    const memory = db.memory();
    const thread = newThread();
    const text = "The user is vegan.";
    const args = { action: "add", category: "knowledge", text, quote: text };
    const call = { toolCalls: [{ name: "memory_manage", args }] };
    const repeat = (messages: { text: string }[]) => messages.at(-1)!.text;
    const sub = new ScriptedChatModel({ replies: [call, repeat as never] });
    const subagent = createAgent({ model: sub, tools: [memoryManageTool(memory)] });
    const model = new ScriptedChatModel({ replies: [asksFor(task), "Done."] });
    const tools = [askTool(subagent)];
    await say(await agentIn("middleware", { memory, model, tools }), "Restaurants please", thread);
    expect(await memory.memories.list(userOf(thread))).toEqual([]);
    expect(sub.calls[1]!.messages.at(-1)!.text).toMatch(
      /^Refused: The user's latest message does not say/,
    );
  });

  it("A subagent's record is deleted with the conversation and exported with the user", async () => {
    const memory = learning();
    const thread = newThread();
    const word = randomUUID();
    const subagent = createAgent({
      model: answering(),
      tools: [],
      middleware: [memoryMiddleware(memory)],
    });
    const model = new ScriptedChatModel({ replies: [asksFor(`Find ${word}.`), "Found."] });
    const tools = [askTool(subagent)];
    await say(await agentIn("middleware", { memory, model, tools }), "Find it", thread);
    const exported = [];
    for await (const line of memory.export(userOf(thread))) exported.push(line);
    const others = await delegated(thread);
    await memory.threads.delete(addressOf(thread));
    expect(await findEverywhere(db, word)).toEqual({});
    expect(await delegated(thread)).toEqual([]);
    await memory.forget(userOf(thread));
    await memory.import({ lines: exported });
    expect(await delegated(thread)).toEqual(others);
  });
});

describe("a graph with memory in another's node", () => {
  it("A message that a node gives an inner graph with memory is recorded as a task", async () => {
    const memory = learning();
    const thread = await knownThread(memory);
    const [worker, model] = [answering(), answering()];
    const inner = createAgent({ model: worker, tools: [], middleware: [memoryMiddleware(memory)] });
    const outer = oneNode("work", async () => {
      await inner.invoke({ messages: [new HumanMessage(task)] });
      await inner.invoke({ messages: [new HumanMessage("Once more.")] });
      return { messages: [await model.invoke("now")] };
    });
    await say(withMemory(outer, memory).compile(), "Restaurants please", thread);
    const tasks = worker.calls.map(({ messages }) => lines(messages).slice(1));
    expect(tasks).toEqual([[`human: ${task}`], ["human: Once more."]]);
    expect(await usersLines(memory, thread)).toEqual(["user: Restaurants please"]);
    expect(await delegated(thread)).toContain(`other: ${task}`);
  });

  it("An inner graph that shares the user's messages joins the outer conversation", async () => {
    const memory = learning();
    const thread = newThread();
    const inner = withMemory(chatAgent(answering()), memory).compile();
    const shared = oneNode("inner", inner as never);
    const outer = withMemory(shared, memory).compile();
    for (const graph of [outer, shared]) await converse(graph, thread, 1, 2);
    expect(await usersLines(memory, thread)).toEqual(
      [1, 2, 1, 2].map((round) => `user: question ${round}`),
    );
    expect(await delegated(thread)).toEqual([]);
  });

  it.each(["all its messages", "plain objects"] as const)(
    "An agent with memory hands over to another one, and gives it nothing recalled (%s)",
    async (given) => {
      const memory = learning();
      const thread = await knownThread(memory);
      const model = answering();
      const said = { role: "assistant" as const, content: "Over to you." };
      const first = oneNode("desk", ({ messages }) => {
        expect(lines(messages).join()).toContain("zanzibar");
        const update = { messages: given === "plain objects" ? [said] : [...messages, said] };
        return new Command({ goto: "second", graph: Command.PARENT, update }) as never;
      });
      const [desk, expert] = [first, chatAgent(model)].map((agent) =>
        withMemory(agent, memory).compile(),
      );
      const graph = new StateGraph(MessagesAnnotation)
        .addNode("first", desk as never, { ends: ["second"] })
        .addNode("second", expert as never)
        .addEdge(START, "first")
        .compile({ checkpointer: memory.checkpointer() });
      await say(graph, "question 1", thread);
      const { messages } = await say(graph, "question 2", thread);
      const told = (round: number) => [
        `human: question ${round}`,
        "ai: Over to you.",
        `ai: answer ${round}`,
      ];
      expect(lines(messages)).toEqual([...told(1), ...told(2)]);
      const recorded = await memory.threads.messages(addressOf(thread));
      expect(recorded.map(({ text }) => text)).toEqual(messages.map(({ text }) => text));
    },
  );
});
