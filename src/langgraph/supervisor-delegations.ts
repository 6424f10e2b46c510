import { AIMessage, type BaseMessage, RemoveMessage } from "@langchain/core/messages";

/** Whether a round's hand-overs and their results become part of the conversation. */
export type Delegations = "recorded" | "hidden";

/** Removes the tool calls and tool results of the last round: what stays is the question and the answer. */
export function removeDelegations(state: { messages: BaseMessage[] }): { messages: RemoveMessage[] } {
  const { messages } = state;
  const asked = messages.findLastIndex((message) => message.getType() === "human");
  return {
    messages: messages
      .slice(asked + 1)
      .filter((message) => message.getType() === "tool" || callsTools(message))
      .flatMap(({ id }) => (id === undefined ? [] : [new RemoveMessage({ id })])),
  };
}

function callsTools(message: BaseMessage): boolean {
  return AIMessage.isInstance(message) && (message.tool_calls?.length ?? 0) > 0;
}
