import { randomUUID } from "node:crypto";
import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import {
  type BaseCheckpointSaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type StateSnapshot,
  type StreamMode,
} from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import {
  type Memory,
  type MemoryDraft,
  type WithMemoryOptions,
  withMemory,
} from "../../src/index.js";
import { memoryPreface } from "../../src/messages/recalled-mark.js";
import { ScriptedChatModel, type ScriptedReply } from "../../src/testing/index.js";
import type { TestDatabase } from "../support/test-database.js";

/** What tests call on a compiled graph of any state. */
export interface AnyGraph {
  invoke(
    input: unknown,
    config: object,
  ): Promise<{ messages: BaseMessage[]; [key: string]: unknown }>;
  stream(input: unknown, config: object): Promise<AsyncIterable<unknown>>;
  getState(config: object, options?: { subgraphs: boolean }): Promise<StateSnapshot>;
  getStateHistory(config: object): AsyncIterable<StateSnapshot>;
  updateState(config: object, values: unknown, asNode?: string): Promise<object>;
}

/** The configuration of a new thread of a new user. */
export function newThread(ids: Record<string, unknown> = {}) {
  return { configurable: { thread_id: randomUUID(), user_id: randomUUID(), ...ids } };
}

/** The user of a thread as `Memory` addresses them. */
export function userOf({ configurable }: ReturnType<typeof newThread>) {
  return { scope: { userId: configurable.user_id } };
}

/** A thread as `Memory` addresses it. */
export function addressOf(thread: ReturnType<typeof newThread>) {
  return { ...userOf(thread), threadId: thread.configurable.thread_id };
}

/** The memory of the user of `knownThread`. */
export const favouriteDish: MemoryDraft = {
  category: "profile",
  key: "dish",
  value: "zanzibar",
  importance: 5,
  origin: "user",
  text: "The user's favourite dish is zanzibar.",
};

/** A new thread of a user with one memory: zanzibar. */
export async function knownThread(memory: Memory) {
  const thread = newThread();
  await memory.memories.add({ ...userOf(thread), memories: favouriteDish });
  return thread;
}

/** One turn: the state after `text` was said and answered. */
export function say(graph: unknown, text: string, config: object) {
  return (graph as AnyGraph).invoke({ messages: [new HumanMessage(text)] }, config);
}

/** Turns of the user's "question 1", "question 2", … */
export async function converse(graph: unknown, thread: object, ...numbers: number[]) {
  for (const round of numbers) await say(graph, `question ${round}`, thread);
}

/** Each message as "type: text"; tool calls as "ai: (tool)". */
export function lines(messages: readonly BaseMessage[]): string[] {
  return messages.map((message) => {
    const { tool_calls = [] } = message as { tool_calls?: { name: string }[] };
    const called = tool_calls.map(({ name }) => `(${name})`).join(" ");
    return `${message.getType()}: ${[message.text, called].filter(Boolean).join(" ")}`;
  });
}

/** What was said in a prompt: neither instructions nor memory. */
export const saidIn = (prompt: readonly BaseMessage[]) =>
  prompt.filter(({ type, name }) => type !== "system" && name !== "memory");

/** The recorded texts of a thread, in order. */
export async function transcript(
  { pool, schema }: TestDatabase,
  { configurable }: ReturnType<typeof newThread>,
) {
  const { rows } = await pool.query<{ content: string }>(
    `select m.content from "${schema}".message m join "${schema}".thread t on t.id = m.thread_ref
     where t.thread_id = $1 and t.user_id = $2 order by m.seq`,
    [configurable.thread_id, configurable.user_id],
  );
  return rows.map((row) => row.content);
}

/** The memory block of a thread with a summary and no memories. */
export function summaryBlock(rounds: string, text: string): string {
  return (
    `<memory>\n${memoryPreface}\n\n# Recent Conversation\n[Summary of Round ${rounds}]:\n${text}\n\n` +
    "Answer consistently using the conversation above.\n</memory>"
  );
}

/** All chunks of a stream. */
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

/** Settings that show only unsummarised messages beside a summary. */
export const summaryAlone = { summaries: { keepRecentMessages: 0 } };

type Chat = typeof MessagesAnnotation;

/** A compiled agent of one node. */
export function oneNode(
  name: string,
  node: (state: Chat["State"]) => Chat["Update"] | Promise<Chat["Update"]>,
) {
  return new StateGraph(MessagesAnnotation)
    .addNode(name, node)
    .addEdge(START, name as never)
    .compile();
}

/** A compiled agent of one node, "chat". */
export const chatAgent = (model: ScriptedChatModel) =>
  oneNode("chat", async ({ messages }) => ({ messages: [await model.invoke(messages)] }));

/** A compiled agent that calls its tools in a loop: nodes "chat" and "tools". */
export function toolAgent(
  replies: readonly ScriptedReply[],
  tools: ConstructorParameters<typeof ToolNode>[0],
) {
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

/** The lines of plain turns: "human: question 1", "ai: answer 1", … */
export const rounds = (...numbers: number[]) =>
  numbers.flatMap((round) => [`human: question ${round}`, `ai: answer ${round}`]);

/** Their texts in the transcript. */
export const recorded = (...numbers: number[]) =>
  numbers.flatMap((round) => [`question ${round}`, `answer ${round}`]);

/** `agent` with `memory`, whose checkpointer it uses unless another is given. */
export function checkpointed(
  agent: unknown,
  memory: Memory,
  { checkpointer, ...options }: AgentOptions = {},
): AnyGraph {
  const graph = withMemory(agent as ReturnType<typeof chatAgent>, memory, {
    injectAs: "system",
    ...options,
  });
  return graph.compile({
    checkpointer: checkpointer ?? memory.checkpointer(),
  }) as unknown as AnyGraph;
}
type AgentOptions = WithMemoryOptions & { readonly checkpointer?: BaseCheckpointSaver };

/** The agent "chat", or another, with `memory`, its model, and a new thread. */
export function agentWithMemory(
  memory: Memory,
  {
    build = chatAgent,
    ...options
  }: AgentOptions & { build?: (model: ScriptedChatModel) => unknown } = {},
) {
  const model = answering();
  return { memory, model, graph: checkpointed(build(model), memory, options), thread: newThread() };
}

/** The checkpoints of a thread, newest first. */
export async function historyOf(graph: unknown, config: object): Promise<StateSnapshot[]> {
  const history: StateSnapshot[] = [];
  for await (const snapshot of (graph as AnyGraph).getStateHistory(config)) history.push(snapshot);
  return history;
}

/** The answer of `called` to `args` in a turn in which the user says `text`. */
export async function toolAnswer(
  memory: Memory,
  called: StructuredToolInterface,
  {
    thread,
    text,
    args,
    ...options
  }: { thread: object; text: string; args: object } & WithMemoryOptions,
) {
  const { agent } = toolAgent(
    [{ toolCalls: [{ name: called.name, args }] } as ScriptedReply, "ok"],
    [called],
  );
  const done = await say(withMemory(agent, memory, options).compile(), text, thread);
  return done.messages.findLast((message) => ToolMessage.isInstance(message))!.text;
}

/** The values of a user's memories. */
export const valuesOf = async (memory: Memory, thread: ReturnType<typeof newThread>) =>
  (await memory.memories.list(userOf(thread))).map(({ value }) => value);

export const aSummary = {
  id: 1,
  startSeq: 0,
  endSeq: 1,
  text: "they met",
  endMessageId: "1",
  startTurn: 1,
  endTurn: 1,
};
