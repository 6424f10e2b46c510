import { randomUUID } from "node:crypto";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";
import type { ResolvedSubagent } from "./subagent-resolve.js";

/** What the ids of tasks begin with. */
const taskId = "mnemograph.task.";

/**
 * Whether `message` is a task that one agent gave another as if a user had said it: its words are a model's. Who names
 * a message of their own so only gives up that it counts as a user's consent.
 */
export function isDelegated(message: BaseMessage): boolean {
  return message.id?.startsWith(taskId) ?? false;
}

/** Arguments of every tool that gives a task to a subagent. */
export const subagentTaskSchema = z.object({
  task: z
    .string()
    .min(1)
    .describe("The whole task, in full sentences, with every fact from the conversation that it takes."),
});

/** What such a tool says of itself. */
export function subagentTaskDescription({ name, description }: ResolvedSubagent): string {
  return `${description} ${name} sees nothing of this conversation, only \`task\`.`;
}

/**
 * The text a subagent answers a task with.
 *
 * It starts from the task alone: nothing of the supervisor's conversation reaches it, and of what it says and
 * does only the last message comes back.
 */
export async function runSubagentTask(
  { name, graph }: ResolvedSubagent,
  task: string,
  config: LangGraphRunnableConfig,
): Promise<string> {
  const input = { messages: [new HumanMessage({ content: task, id: `${taskId}${randomUUID()}` })] as never };
  const output = (await graph.invoke(input, config)) as { messages: BaseMessage[] };
  return output.messages.at(-1)?.text.trim() || `(${name} finished without an answer.)`;
}
