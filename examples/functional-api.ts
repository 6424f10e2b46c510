import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { entrypoint, type LangGraphRunnableConfig, task } from "@langchain/langgraph";
import { initChatModel } from "langchain";
import {
  createMemory,
  modelView,
  type ShownContext,
  shownBy,
  type ThreadAddress,
} from "mnemograph";
import { OfflineChatModel } from "mnemograph/testing";

// LangGraph's functional API: an entrypoint that recalls, calls the model in a task, and remembers.
//
// npx tsx examples/functional-api.ts
// MODEL=openai:gpt-4.1-mini OPENAI_API_KEY=… npx tsx examples/functional-api.ts

const model = process.env.MODEL ? await initChatModel(process.env.MODEL) : new OfflineChatModel();
const memory = createMemory({ model, database: process.env.DATABASE_URL });
await memory.setup();

interface Answered {
  readonly said: BaseMessage;
  readonly shown: ShownContext;
}

// What a task gives back is kept in checkpoints. So recall is within it: what was recalled stays
// out of them, but for its ids.
const answer = task(
  "answer",
  async (asked: HumanMessage, whose: ThreadAddress): Promise<Answered> => {
    const recalled = await memory.recall({ ...whose, query: asked.text });
    return { said: await model.invoke(modelView([asked], recalled)), shown: shownBy(recalled) };
  },
);

const chat = entrypoint(
  { name: "chat", checkpointer: memory.checkpointer() },
  async (asked: HumanMessage, config: LangGraphRunnableConfig): Promise<string> => {
    const whose = addressOf(config);
    const { said, shown } = await answer(asked, whose);
    await memory.remember({ ...whose, messages: [asked, said], shown });
    return said.text;
  },
);

/** Whose memory it is: set by your server, never by a client or a model. */
function addressOf({ configurable }: LangGraphRunnableConfig): ThreadAddress {
  return {
    scope: { userId: String(configurable?.user_id) },
    threadId: String(configurable?.thread_id),
  };
}

// Somebody new each time, so that this can be run again.
const userId = `ana-${Date.now()}`;

async function say(thread: string, text: string): Promise<void> {
  const config = { configurable: { thread_id: `${thread}-${userId}`, user_id: userId } };
  // Its id makes it one message, should the entrypoint be run again.
  const asked = new HumanMessage({ content: text, id: crypto.randomUUID() });
  console.log(`${thread}> ${text}\n${await chat.invoke(asked, config)}\n`);
  // Facts are extracted after the answer. A server does not wait for them: this program ends soon.
  await memory.idle();
}

await say("monday", "I work as a gardener.");
await say("tuesday", "What is my job?");
await memory.close();
