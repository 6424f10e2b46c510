import type { DynamicStructuredTool } from "@langchain/core/tools";
import { z } from "zod";
import type { Memory } from "../../memory.js";
import { checkOptions } from "../run/node-options.js";
import { runIdentity } from "../run/run-identity.js";
import { memoryTool, type NameOption, nameOption } from "./memory-tool.js";

const argumentsSchema = z.object({
  reason: z
    .string()
    .max(2_000)
    .nullish()
    .describe('Why it is over, in a few words: "The question was answered".'),
});

/**
 * A tool that ends the run's conversation. The note is made after the current turn is recorded; a
 * later message reopens it.
 * @param options.name on the wire. @default "end_conversation"
 * @throws MemoryError `INVALID_INPUT` for a name that providers refuse, and for unknown options
 */
export function endConversationTool(
  memory: Memory,
  options: NameOption = {},
): DynamicStructuredTool {
  checkOptions(memory, nameOption, options, "endConversationTool");
  return memoryTool({
    name: options.name ?? "end_conversation",
    description:
      "Ends this conversation. Call it when the user says goodbye, or has nothing more to ask and what they came for is " +
      "done; then answer with a short goodbye. Never call it while a question is open.",
    schema: argumentsSchema,
    refusals: [],
    async answer({ reason }, config) {
      await memory.threads.end({
        ...runIdentity(config, memory),
        ...(reason != null && { reason }),
        afterTurn: true,
      });
      return "The conversation ends with your answer.";
    },
  });
}
