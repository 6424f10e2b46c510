import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";

interface NamedCall {
  readonly id?: string;
  readonly name: string;
}

/** Also those whose arguments are no JSON: clients send them again. */
export function callsOf(message: BaseMessage): readonly NamedCall[] {
  const { tool_calls = [], invalid_tool_calls = [] } = message as Partial<AIMessage>;
  return [...tool_calls, ...invalid_tool_calls] as NamedCall[];
}

export function answeredCall(message: BaseMessage): string | undefined {
  if (message.getType() !== "tool") return undefined;
  return (message as Partial<ToolMessage>).tool_call_id ?? "";
}
