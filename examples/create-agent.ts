import { createAgent, initChatModel } from "langchain";
import { consentTool, createMemory, memoryMiddleware } from "mnemograph";
import { OfflineChatModel } from "mnemograph/testing";

// An agent of `createAgent` with memory: the middleware recalls before it and remembers after it.
// It brings a tool that asks memory for more and one that changes it when the user asks for that;
// `consentTool` records what the user agrees to.
//
// npx tsx examples/create-agent.ts
// MODEL=openai:gpt-4.1-mini OPENAI_API_KEY=… npx tsx examples/create-agent.ts

// Without MODEL a stand-in that follows rules; "openai:…" needs @langchain/openai, and so on.
const model = process.env.MODEL ? await initChatModel(process.env.MODEL) : new OfflineChatModel();

// "tool": the agent asks about a name or a city before it is remembered, and calls `consentTool`
// with the answer.
const memory = createMemory({
  model,
  database: process.env.DATABASE_URL,
  config: { consent: { ask: "tool" } },
});
await memory.setup();

const agent = createAgent({
  model,
  tools: [consentTool(memory)],
  middleware: [memoryMiddleware(memory, { agent: "assistant", tools: ["query", "manage"] })],
  checkpointer: memory.checkpointer(),
  systemPrompt: "You are a friendly cook. Answer in one sentence.",
});

// Somebody new each time, so that this can be run again.
const userId = `ana-${Date.now()}`;

async function say(thread: string, text: string): Promise<void> {
  const { messages } = await agent.invoke(
    { messages: [{ role: "user", content: text }] },
    { configurable: { thread_id: `${thread}-${userId}` }, context: { userId } },
  );
  console.log(`${thread}> ${text}\n${messages.at(-1)?.text}\n`);
  // Facts are extracted after the answer. A server does not wait for them: this program ends soon.
  await memory.idle();
}

// A city is asked about before it is remembered; an allergy is not.
await say("monday", "I am allergic to peanuts. I live in Porto.");
await say("tuesday", "What am I allergic to?");
await say("tuesday", "Yes, please remember my city.");

for (const { text } of await memory.memories.list({ scope: { userId } }))
  console.log(`remembered: ${text}`);
for (const { text } of await memory.consents.list({ scope: { userId } }))
  console.log(`waits for a yes: ${text}`);
await memory.close();
