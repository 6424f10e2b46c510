import type { DynamicStructuredTool } from "@langchain/core/tools";
import { z } from "zod";
import type { Memory } from "../../memory.js";
import { isRecalled } from "../../messages/recalled-mark.js";
import { checkOptions } from "../run/node-options.js";
import { runIdentity, runOrigin } from "../run/run-identity.js";
import {
  answeredMessage,
  memoryTool,
  type ToolOptions,
  toolMessages,
  toolOptions,
} from "./memory-tool.js";

const argumentsSchema = z.object({
  title: z
    .string()
    .min(1)
    .max(200)
    .describe(
      "What the steps are for. The same title again takes the place of the steps kept under it.",
    ),
});

/**
 * A tool that keeps what the agent just did as numbered steps, from the messages that it sees. Only
 * the category "procedural" finds them. Needs a memory with a model.
 * @param options.agent keeps the steps as this agent's. @default nobody's
 * @param options.name on the wire. @default "memory_save_procedure"
 * @throws MemoryError `INVALID_INPUT` for a name that providers refuse, and for unknown options
 */
export function procedureTool(memory: Memory, options: ToolOptions = {}): DynamicStructuredTool {
  checkOptions(memory, toolOptions, options, "procedureTool");
  const { agent } = options;
  return memoryTool({
    name: options.name ?? "memory_save_procedure",
    description:
      "Keeps the way in which a task was just done as numbered steps, for the next time. Call it only after the task " +
      "succeeded and when the user asked to remember how, or the same task is likely to come again. Ask memory for " +
      'the category "procedural" to find steps again.',
    schema: argumentsSchema,
    refusals: [
      "CONFLICT",
      "FORGOTTEN",
      "INVALID_INPUT",
      "MODEL_FAILED",
      "MODEL_OUTPUT_INVALID",
      "NOT_FOUND",
    ],
    async answer({ title }, config) {
      const messages = toolMessages(config).filter((message) => !isRecalled(message));
      const { messageId } = answeredMessage(config, memory, agent);
      const written = await memory.procedures.write({
        ...runIdentity(config, memory),
        messageId,
        title,
        ...runOrigin(config, agent),
        actor: agent ?? "agent",
        ...(messages.length > 0 && { messages }),
      });
      if (written === null)
        return "Nothing was kept: there are no steps to repeat in this conversation.";
      if (written.state === "active") return `Kept:\n${written.text}`;
      return "Kept for a person to look at first: the steps read as instructions.";
    },
    refused: ({ message }) => `Not kept: ${message}`,
  });
}
