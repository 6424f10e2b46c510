import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { initChatModel } from "langchain";
import {
  createMemory,
  memoryAnnotation,
  memoryQueryTool,
  modelView,
  recallNode,
  rememberNode,
} from "mnemograph";
import { OfflineChatModel } from "mnemograph/testing";
import { z } from "zod";

// A graph built by hand: nodes of its own between recall and remember, a loop of tools, and an
// allowlist.
//
// npx tsx examples/state-graph.ts
// MODEL=openai:gpt-4.1-mini OPENAI_API_KEY=… npx tsx examples/state-graph.ts

const model = process.env.MODEL ? await initChatModel(process.env.MODEL) : new OfflineChatModel();
const memory = createMemory({
  model,
  database: process.env.DATABASE_URL,
  // What the agent may read; in YAML: allowlists: { writer: [profile, preferences, …] }
  config: { allowlists: { writer: ["profile", "preferences", "constraints", "knowledge"] } },
});
await memory.setup();

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  // Where recall leaves what it found, for the nodes that show it to a model. It is never
  // checkpointed.
  ...memoryAnnotation.spec,
  tone: Annotation<"short" | "kind">(),
});
type State = typeof State.State;

/** A node of one's own: it may read what was recalled. */
function chooseTone({ mnemograph }: State): Pick<State, "tone"> {
  const wishes = mnemograph?.memories.profile.map(({ text }) => text).join(" ") ?? "";
  return { tone: /short answers/.test(wishes) ? "short" : "kind" };
}

const open = tool(({ editor }) => `${editor} is open.`, {
  name: "open",
  description: "Opens an editor.",
  schema: z.object({ editor: z.string() }),
});
const tools = [open, memoryQueryTool(memory, { agent: "writer" })];
const bound = model.bindTools(tools);

/**
 * What the model sees: system messages, then the conversation, with memory as messages before the
 * user's.
 */
async function answer({ messages, mnemograph }: State): Promise<{ messages: BaseMessage[] }> {
  return { messages: [await bound.invoke(modelView(messages, mnemograph))] };
}

const graph = new StateGraph(State)
  .addNode("recall", recallNode(memory, { agent: "writer" }))
  .addNode("chooseTone", chooseTone)
  .addNode("answer", answer)
  .addNode("tools", new ToolNode(tools))
  .addNode("remember", rememberNode(memory, { agent: "writer" }))
  .addEdge(START, "recall")
  .addEdge("recall", "chooseTone")
  .addEdge("chooseTone", "answer")
  // Tools lead back to the model, not to recall: a turn recalls once.
  .addConditionalEdges(
    "answer",
    (state) => (toolsCondition(state) === "tools" ? "tools" : "remember"),
    ["tools", "remember"],
  )
  .addEdge("tools", "answer")
  .addEdge("remember", END)
  .compile({ checkpointer: memory.checkpointer() });

// Somebody new each time, so that this can be run again.
const userId = `ana-${Date.now()}`;

async function say(thread: string, text: string): Promise<void> {
  const config = { configurable: { thread_id: `${thread}-${userId}`, user_id: userId } };
  const { messages, tone } = await graph.invoke({ messages: [new HumanMessage(text)] }, config);
  console.log(`${thread}> ${text}\n(${tone}) ${messages.at(-1)?.text}\n`);
  // Facts are extracted after the answer. A server does not wait for them: this program ends soon.
  await memory.idle();
}

await say("monday", "I prefer short answers. My favourite editor is Helix.");
await say("tuesday", "What is my favourite editor?");
await memory.close();
