import type { BaseMessage } from "@langchain/core/messages";

const key = "mnemograph";

/** Fields for a task that one agent gives another as if a user had said it. */
export const delegatedMark = { response_metadata: { [key]: "delegated" } } as const;

/** Whether `message` is such a task: its words are a model's. */
export function isDelegated(message: BaseMessage): boolean {
  return message.response_metadata?.[key] === "delegated";
}
