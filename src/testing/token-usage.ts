import type { AIMessage, BaseMessage, UsageMetadata } from "@langchain/core/messages";

/** The usual rule of thumb for English; the numbers only have to be plausible and the same every time. */
const CHARACTERS_PER_TOKEN = 4;

/** Token counts estimated from the lengths of what went in and what came out, tool calls included. */
export function estimateUsage(input: readonly BaseMessage[], output: AIMessage): UsageMetadata {
  const inputTokens = input.reduce((sum, message) => sum + tokensIn(message.text), 0);
  const calls = output.tool_calls?.length ? JSON.stringify(output.tool_calls) : "";
  const outputTokens = tokensIn(output.text) + tokensIn(calls);
  return { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}

function tokensIn(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
