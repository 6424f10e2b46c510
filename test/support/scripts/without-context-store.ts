import { HumanMessage } from "@langchain/core/messages";
import { getConfig } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { createMemory, memoryMiddleware } from "../../../src/index.js";
import { ScriptedChatModel } from "../../../src/testing/index.js";

// Builds with the condition "browser", in which LangGraph keeps no config: prints what the model
// was shown and the transcript.
const [dataDir = ""] = process.argv.slice(2);
const memory = createMemory({ database: { dataDir } });
await memory.setup();
const scope = { userId: "ana" };
await memory.memories.add({ scope, memories: { text: "Ana has a cat called Zerberus." } });
const model = new ScriptedChatModel({
  replies: () => (getConfig() === undefined ? "Zerberus." : "A config was kept."),
});
const agent = createAgent({ model, tools: [], middleware: [memoryMiddleware(memory)] });
const config = { configurable: { thread_id: "t1" }, context: scope };
await agent.invoke({ messages: [new HumanMessage("What is my cat called?")] }, config);
const turns = await memory.threads.shown({ scope, threadId: "t1" });
console.log(
  JSON.stringify({
    shown: model.calls[0]?.messages[0]?.text.includes("Zerberus"),
    said: (await memory.threads.messages({ scope, threadId: "t1" })).map(({ text }) => text),
    memories: turns.flatMap(({ memories }) => memories.map(({ text }) => text)),
  }),
);
await memory.close();
