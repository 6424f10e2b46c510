import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createMemory, createMemorySupervisor } from "mnemograph";
import {
  OfflineChatModel,
  ScriptedChatModel,
  type ScriptedReplyFunction,
} from "mnemograph/testing";

/** Whose memory the second part of the demo is about. */
export const ana = { userId: "ana" };

/** The supervisor of the second part, with durable memories. */
export type Office = Awaited<ReturnType<typeof openOffice>>;

/**
 * A supervisor with planner and executor on the embedded database in `folder`, whose memory
 * extracts facts, makes episodes and lets each agent read the categories of its allowlist in
 * `memory.yaml`.
 *
 * The planner's model follows a script: it asks memory twice, and its plan is what the second
 * answer says.
 */
export async function openOffice(folder: string) {
  const memory = createMemory({
    database: { dataDir: join(folder, "database") },
    // The demo says itself what it is doing.
    logger: { ...console, debug() {}, info() {}, warn() {} },
    model: new OfflineChatModel(),
    config: fileURLToPath(new URL("./memory.yaml", import.meta.url)),
  });
  await memory.setup();

  const ask = (categories: string[]) => ({
    toolCalls: [{ name: "memory_query", args: { query: "tasks of the launch", categories } }],
  });
  const supervisor = await createMemorySupervisor({
    memory,
    model: new OfflineChatModel(),
    planner: {
      model: new ScriptedChatModel({
        replies: [ask(["preferences"]), ask(["tasks"]), planOfTasks],
      }),
      prompt: "Turn the goal into steps.",
    },
    executor: { prompt: "Do the task." },
    delegations: "hidden",
  });
  return { memory, graph: supervisor.compile({ checkpointer: memory.checkpointer() }) };
}

/** A step for each task that memory told of. */
const planOfTasks: ScriptedReplyFunction = (messages) => {
  const tasks = JSON.parse(messages.at(-1)?.text ?? "[]") as { text: string }[];
  return tasks.map(({ text }, index) => `${index + 1}) ${text.replace("[tasks] ", "")}`).join(" ");
};
