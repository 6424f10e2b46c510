import { CompositeBackend, createDeepAgent, StateBackend, StoreBackend } from "deepagents";
import { initChatModel } from "langchain";
import { createMemory, fromRun, memoryMiddleware } from "mnemograph";
import { OfflineChatModel, ScriptedChatModel } from "mnemograph/testing";

// A deep agent that remembers: what users say becomes memories, and files in /memories/ outlive the
// conversation, for each user apart. Its subagents get their task alone.
//
// npm install deepagents
// npx tsx examples/deepagents.ts
// MODEL=openai:gpt-4.1-mini OPENAI_API_KEY=… npx tsx examples/deepagents.ts

const chosen = process.env.MODEL;
const memory = createMemory({
  model: chosen ? await initChatModel(chosen) : new OfflineChatModel(),
  database: process.env.DATABASE_URL,
});
await memory.setup();

// Without MODEL, a script in place of a model.
const script = new ScriptedChatModel({
  replies: [
    {
      toolCalls: [
        { name: "write_file", args: { file_path: "/memories/style.md", content: "Write short." } },
      ],
    },
    "I noted it.",
    { toolCalls: [{ name: "read_file", args: { file_path: "/memories/style.md" } }] },
    (messages) => `The file says: ${messages.at(-1)?.text}`,
  ],
});

// Whose files: the user of the run, never a model's argument.
const store = memory.store({ scope: fromRun });

const agent = createDeepAgent({
  model: chosen ? await initChatModel(chosen) : script,
  middleware: [memoryMiddleware(memory)],
  checkpointer: memory.checkpointer(),
  backend: new CompositeBackend(new StateBackend(), {
    "/memories/": new StoreBackend({ store, namespace: ["files"] }),
  }),
});

const userId = `ana-${Date.now()}`;
const say = async (thread: string, content: string) => {
  const { messages } = await agent.invoke(
    { messages: [{ role: "user", content }] },
    { configurable: { thread_id: `${thread}-${userId}`, user_id: userId } },
  );
  await memory.idle();
  console.log(`${thread}> ${content}\n${messages.at(-1)?.text}\n`);
};
await say(
  "monday",
  "I am allergic to peanuts. Note in /memories/style.md that I like short texts.",
);
await say("tuesday", "How do I like my texts? Look it up.");

for (const { text } of await memory.memories.list({ scope: { userId } }))
  console.log(`remembered: ${text}`);
await memory.close();
