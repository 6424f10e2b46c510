import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { initChatModel } from "langchain";
import { createMemory, createMemorySupervisor } from "mnemograph";
import { OfflineChatModel } from "mnemograph/testing";
import { z } from "zod";

// A supervisor that talks with the user, a planner and an executor. Each reads the categories of
// its own allowlist. A subagent sees its task, and of its categories what is always shown.
//
// npx tsx examples/supervisor.ts
// MODEL=openai:gpt-4.1-mini OPENAI_API_KEY=… npx tsx examples/supervisor.ts

const model = process.env.MODEL ? await initChatModel(process.env.MODEL) : new OfflineChatModel();
const memory = createMemory({
  model,
  database: process.env.DATABASE_URL,
  config: {
    allowlists: {
      supervisor: ["profile", "preferences", "constraints", "goals", "tasks"],
      planner: ["goals", "tasks", "constraints"],
      executor: ["preferences", "constraints"],
    },
  },
});
await memory.setup();

const book = tool(({ what }) => `Booked: ${what}.`, {
  name: "book",
  description: "Books a table, a ticket or a room.",
  schema: z.object({ what: z.string() }),
});
const supervisor = await createMemorySupervisor({ model, memory, executor: { tools: [book] } });
const graph = supervisor.compile({ checkpointer: memory.checkpointer() });

const userId = `ana-${Date.now()}`;
const say = async (thread: string, text: string) => {
  const { messages } = await graph.invoke(
    { messages: [new HumanMessage(text)] },
    { configurable: { thread_id: `${thread}-${userId}`, user_id: userId } },
  );
  await memory.idle();
  console.log(`${thread}> ${text}\n${messages.at(-1)?.text}\n`);
};
await say("monday", "I am allergic to peanuts.");
await say("tuesday", "Plan a dinner for Friday.");
await say("tuesday", "What am I allergic to?");
await memory.close();
