import { join } from "node:path";
import { createAgent } from "langchain";
import { createMemory, endConversationTool, memoryMiddleware } from "mnemograph";
import {
  OfflineChatModel,
  ScriptedChatModel,
  type ScriptedReplyFunction,
} from "mnemograph/testing";

/** The app of the demo's third part. */
export const app = { appId: "calendar" };

/** The agent of an app, with its memory. */
export type Calendar = Awaited<ReturnType<typeof openCalendar>>;

/**
 * An agent for an app, on the embedded database in `folder`. It can end a conversation by a tool of
 * its own; the app's memory then makes a note of it.
 *
 * The agent's model ends a conversation when it is thanked, and otherwise does what the offline
 * model does.
 */
export async function openCalendar(folder: string) {
  const offline = new OfflineChatModel();
  const memory = createMemory({
    database: { dataDir: join(folder, "database") },
    // The demo says itself what it is doing.
    logger: { ...console, debug() {}, info() {}, warn() {} },
    model: offline,
    // This part is about notes alone.
    config: {
      memories: { extract: false, episodes: false },
      notes: { apps: { calendar: { name: "Calendar" } } },
    },
  });
  await memory.setup();

  const answer: ScriptedReplyFunction = async (messages) => {
    const last = messages.at(-1);
    if (last?.getType() === "tool") return "You are welcome. Goodbye!";
    if (last?.text.startsWith("Thank"))
      return {
        toolCalls: [{ name: "end_conversation", args: { reason: "The user said goodbye." } }],
      };
    return (await offline.invoke([...messages])).text;
  };
  const agent = createAgent({
    model: new ScriptedChatModel({ replies: [answer], repeatLast: true }),
    tools: [endConversationTool(memory)],
    middleware: [memoryMiddleware(memory)],
    checkpointer: memory.checkpointer(),
  });
  return { memory, agent };
}
