import type { BaseMessage } from "@langchain/core/messages";

const key = "mnemograph";

/** Fields for a message made of recalled memory. `response_metadata` stays out of what providers are sent. */
export const recalledMark = { response_metadata: { [key]: "recalled" } } as const;

/** Whether `message` was recalled: it is memory, or comes from the transcript and not from the graph's state. */
export function isRecalled(message: BaseMessage): boolean {
  return message.response_metadata?.[key] === "recalled";
}

/** A copy of `message`, of the same class, that is marked as recalled. */
export function asRecalled<Message extends BaseMessage>(message: Message): Message {
  const copy: Message = Object.assign(Object.create(Object.getPrototypeOf(message)), message);
  copy.response_metadata = { ...message.response_metadata, ...recalledMark.response_metadata };
  return copy;
}
