import type { BaseMessage } from "@langchain/core/messages";

const key = "mnemograph";

/** Fields for a message made of recalled memory. `response_metadata` stays out of what providers are sent. */
export const recalledMark = { response_metadata: { [key]: "recalled" } } as const;

/** Whether `message` is recalled memory and so no part of the conversation. */
export function isRecalled(message: BaseMessage): boolean {
  return message.response_metadata?.[key] === "recalled";
}
