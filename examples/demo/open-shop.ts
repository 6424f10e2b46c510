import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tool } from "@langchain/core/tools";
import { createMemory, createMemorySupervisor } from "mnemograph";
import { type Gate, OfflineChatModel, ScriptedChatModel } from "mnemograph/testing";
import { z } from "zod";

/** The one conversation of the demo. */
export const address = { scope: { userId: "ana" }, threadId: "shop" };

/** The supervisor with its memory. */
export type Shop = Awaited<ReturnType<typeof openShop>>;

/**
 * A supervisor with planner and executor on the embedded database in `folder`.
 *
 * The models are stand-ins that need no key: the supervisor's and the summariser's follow rules,
 * the subagents' follow a script.
 *
 * @param summaries holds every summary back until it is opened.
 */
export async function openShop(folder: string, summaries: Gate) {
  const memory = createMemory({
    database: { dataDir: join(folder, "database") },
    // The demo says itself what it is doing.
    logger: { ...console, debug() {}, info() {}, warn() {} },
    model: new OfflineChatModel({ gate: summaries }),
    // This part is about summaries alone, made after each turn.
    config: { preset: "every-round", memories: { extract: false, episodes: false } },
  });
  await memory.setup();

  const planner = new ScriptedChatModel({
    replies: [
      "Table users: id, email (unique), name, created_at.",
      "Table orders: id, user_id, total, ordered_at.",
    ],
  });

  const writeFile = tool(
    ({ name, text }) => {
      mkdirSync(join(folder, "shop"), { recursive: true });
      writeFileSync(join(folder, "shop", name), text);
      return `wrote ${name}`;
    },
    {
      name: "write_file",
      description: "Writes a file of the shop.",
      schema: z.object({ name: z.string(), text: z.string() }),
    },
  );
  const executor = new ScriptedChatModel({
    replies: [
      {
        toolCalls: [
          { name: "write_file", args: { name: "users.sql", text: "create table users (…);" } },
        ],
      },
      "The user table is in users.sql.",
      { toolCalls: [{ name: "write_file", args: { name: "deploy.yml", text: "region: Lisbon" } }] },
      "The shop is online in Lisbon.",
    ],
  });

  const supervisor = await createMemorySupervisor({
    memory,
    model: new OfflineChatModel(),
    planner: { model: planner, prompt: "Turn the task into a table." },
    executor: { model: executor, prompt: "Do the task.", tools: [writeFile] },
    // The simulation counts two messages a round, the user's and the answer.
    delegations: "hidden",
  });
  const graph = supervisor.compile({ checkpointer: memory.checkpointer() });
  const config = { configurable: { thread_id: address.threadId, user_id: address.scope.userId } };
  return { memory, graph, config };
}
