import { randomUUID } from "node:crypto";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";
import { taskId } from "../run/run-identity.js";
import type { ResolvedSubagent } from "./subagent.js";
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
