import { HumanMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createMemory, memoryAnnotation, modelView, recallNode, rememberNode } from "../src/index.js";
import { OfflineChatModel } from "../src/testing/index.js";

// Memory in a graph built by hand. In a package of your own the imports are "mnemograph" and "mnemograph/testing".

const model = new OfflineChatModel(); // a stand-in; use any chat model
const memory = createMemory({ model });
await memory.setup();

// of a StateSchema: ...memoryStateFields; of zod: MessagesZodState.extend(memoryFields)
const State = Annotation.Root({ ...MessagesAnnotation.spec, ...memoryAnnotation.spec });
const graph = new StateGraph(State)
  .addNode("recall", recallNode(memory))
  .addNode("chat", async ({ messages, mnemograph }) => ({
    messages: [await model.invoke(modelView(messages, mnemograph))],
  }))
  .addNode("remember", rememberNode(memory))
  .addEdge(START, "recall")
  .addEdge("recall", "chat")
  .addEdge("chat", "remember")
  .compile({ checkpointer: memory.checkpointer() });

const say = (text: string, thread_id: string) =>
  graph.invoke({ messages: [new HumanMessage(text)] }, { configurable: { thread_id, user_id: "ana" } });
await say("My name is Ana.", "monday");
await memory.idle();
const { messages } = await say("What is my name?", "tuesday");
console.log(messages.at(-1)?.text);
await memory.close();
