import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { STAND_IN_MARK, withoutContext } from "./answer-from-messages.js";

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

/**
 * What came back in this round: the text of the last tool result, or of the last message of a subagent, since the latest human
 * message. Undefined when nothing came back yet.
 */
export function subagentResult(
  messages: readonly BaseMessage[],
  toolNames: readonly string[],
): string | undefined {
  const subagents = new Set([
    "planner",
    "executor",
    ...toolNames.map((name) => name.replace(/^transfer_to_/, "")),
  ]);
  for (const message of messages.toReversed()) {
    if (message.type === "human") return undefined;
    const isResult = message.type === "tool" ? !announcesTransfer(message) : isWordOf(message, subagents);
    if (isResult) return message.text.replace(STAND_IN_MARK, "");
  }
  return undefined;
}

/** LangGraph's supervisor announces every hand-over, both ways, in a tool message that holds no result. */
function announcesTransfer({ name, text }: BaseMessage): boolean {
  return /^transfer_(?:back_)?to_/.test(name ?? "") && text.startsWith("Successfully transferred");
}

function isWordOf(message: BaseMessage, subagents: ReadonlySet<string>): boolean {
  if (!AIMessage.isInstance(message) || message.tool_calls?.length) return false;
  return message.name !== undefined && subagents.has(message.name) && message.text !== "";
}
