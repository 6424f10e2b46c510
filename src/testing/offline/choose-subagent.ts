import type { BaseMessage } from "@langchain/core/messages";
import { withoutContext } from "./answer-from-messages.js";

/** First match decides, so that "plan how to build it" is planned before it is built. */
const SUBAGENTS = [
  { name: "planner", asks: /\b(?:plan|design|how should)\b/i },
  { name: "executor", asks: /\b(?:build|create|run|write|implement|deploy)\b/i },
];

/**
 * The subagent's tool that the latest message asks for, and the task to give it; undefined when the latest message is not a
 * human one (its round has been handed over already), asks for neither, or the tool is not bound.
 */
export function chooseSubagent(
  messages: readonly BaseMessage[],
  toolNames: readonly string[],
): { tool: string; task: string } | undefined {
  const latest = messages.findLast((message) => message.type !== "system");
  if (latest?.type !== "human") return undefined;
  const task = withoutContext(latest.text).spoken;
  for (const { name, asks } of SUBAGENTS) {
    const tool = toolNames.find((bound) => bound === name || bound === `transfer_to_${name}`);
    if (tool !== undefined && asks.test(task)) return { tool, task };
  }
  return undefined;
}
