import { randomUUID } from "node:crypto";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph, type StateSnapshot, type StreamMode } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { memoryPreface } from "../../src/conversation/recalled-mark.js";
import { type Memory, type MemoryDraft, type WithMemoryOptions, withMemory } from "../../src/index.js";
import { ScriptedChatModel, type ScriptedReply } from "../../src/testing/index.js";
import type { TestDatabase } from "../support/test-database.js";

/** What tests call on a compiled graph, whatever its state. */
export interface AnyGraph {
  invoke(input: unknown, config: object): Promise<{ messages: BaseMessage[]; [key: string]: unknown }>;
  stream(input: unknown, config: object): Promise<AsyncIterable<unknown>>;
  getState(config: object, options?: { subgraphs: boolean }): Promise<StateSnapshot>;
}

/** The configuration of a new thread of a new user. */
export function newThread(ids: Record<string, unknown> = {}) {
  return { configurable: { thread_id: randomUUID(), user_id: randomUUID(), ...ids } };
}

/** The thread of `config` as `Memory` addresses it. */
export function addressOf({ configurable }: ReturnType<typeof newThread>) {
  return { scope: { userId: configurable.user_id }, threadId: configurable.thread_id };
}

/** What is known of the user of `knownThread`. */
export const favouriteDish: MemoryDraft = {
  category: "profile",
  key: "dish",
  value: "zanzibar",
  importance: 5,
  origin: "user",
  text: "The user's favourite dish is zanzibar.",
};

/** A new thread of a user of whom one thing is known: zanzibar. */
export async function knownThread(memory: Memory) {
  const thread = newThread();
  await memory.memories.add(favouriteDish, { scope: addressOf(thread).scope });
  return thread;
}

/** One round: the state after `text` was said and answered. */
export function say(graph: unknown, text: string, config: object) {
  return (graph as AnyGraph).invoke({ messages: [new HumanMessage(text)] }, config);
}

/** Each message as "type: text"; tool calls as "ai: (tool)". */
export function lines(messages: readonly BaseMessage[]): string[] {
  return messages.map((message) => {
    const calls =
      "tool_calls" in message && Array.isArray(message.tool_calls) ? (message.tool_calls as { name: string }[]) : [];
    const called = calls.map((call) => `(${call.name})`).join(" ");
    return `${message.getType()}: ${[message.text, called].filter(Boolean).join(" ")}`;
  });
}

/** What the tables hold of a thread, in order. */
export async function transcript({ pool, schema }: TestDatabase, { configurable }: ReturnType<typeof newThread>) {
  const { rows } = await pool.query<{ content: string }>(
    `select m.content from "${schema}".message m join "${schema}".thread t on t.id = m.thread_ref
     where t.thread_id = $1 and t.user_id = $2 order by m.seq`,
    [configurable.thread_id, configurable.user_id],
  );
  return rows.map((row) => row.content);
}

/** The memory block of a thread of which a summary is all that is known. */
export function summaryBlock(rounds: string, text: string): string {
  return (
    `<memory>\n${memoryPreface}\n\n# Recent Conversation\n[Summary of Round ${rounds}]:\n${text}\n\n` +
    "Answer consistently using the conversation above.\n</memory>"
  );
}

/** Everything a stream gives. */
export async function streamed(
  graph: unknown,
  input: unknown,
  config: { streamMode: StreamMode | StreamMode[]; subgraphs?: boolean; configurable: object },
) {
  const chunks: unknown[] = [];
  for await (const chunk of await (graph as AnyGraph).stream(input, config)) chunks.push(chunk);
  return chunks;
}

/** A model that answers "answer 1", "answer 2", … */
export function answering(): ScriptedChatModel {
  return new ScriptedChatModel({ replies: (_, index) => `answer ${index + 1}` });
}

/** A model whose summaries are "summary 1", "summary 2", … */
export function summarizing(): ScriptedChatModel {
  return new ScriptedChatModel({
    replies: (_, index) => ({ structured: { reasoning: "none", summary: `summary ${index + 1}` } }),
  });
}

/** Settings with which a summary's last messages are not shown beside it: only what it does not cover is. */
export const summaryAlone = { summaries: { keepRecentMessages: 0 } };

/** A compiled agent of one node, "chat". */
export function chatAgent(model: ScriptedChatModel) {
  return new StateGraph(MessagesAnnotation)
    .addNode("chat", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, "chat")
    .compile();
}

/** A compiled agent that calls its tools in a loop: nodes "chat" and "tools". */
export function toolAgent(replies: readonly ScriptedReply[], tools: ConstructorParameters<typeof ToolNode>[0]) {
  const model = new ScriptedChatModel({ replies });
  const bound = model.bindTools(tools as never);
  const agent = new StateGraph(MessagesAnnotation)
    .addNode("chat", async ({ messages }) => ({ messages: [await bound.invoke(messages)] }))
    .addNode("tools", new ToolNode(tools))
    .addEdge(START, "chat")
    .addConditionalEdges("chat", toolsCondition)
    .addEdge("tools", "chat")
    .compile();
  return { agent, model };
}

/** The lines of plain rounds: "human: question 1", "ai: answer 1", … */
export const rounds = (...numbers: number[]) =>
  numbers.flatMap((round) => [`human: question ${round}`, `ai: answer ${round}`]);

/** What the transcript holds of them. */
export const recorded = (...numbers: number[]) => numbers.flatMap((round) => [`question ${round}`, `answer ${round}`]);

/** The agent "chat", or another, with `memory` around it, its checkpoints kept there, its model, and a thread to talk in. */
export function agentWithMemory(
  memory: Memory,
  { build = chatAgent, injectAs = "system", ...options }: WithMemoryOptions & { build?: typeof chatAgent } = {},
) {
  const model = answering();
  const graph = withMemory(build(model), memory, { injectAs, ...options }).compile({
    checkpointer: memory.checkpointer(),
  });
  return { memory, model, graph, thread: newThread() };
}
