/** The parts of a chat message that tie tool calls to their results. */
export interface ToolCallLinks {
  readonly type?: string | undefined;
  readonly id?: string | undefined;
  readonly tool_calls?: readonly { readonly id?: string | undefined }[] | undefined;
  readonly tool_call_id?: string | undefined;
}

/**
 * Whether the last message that calls tools still waits for a result and nothing was said since.
 *
 * A transcript must not be cut there: providers refuse a tool result without its call.
 */
export function hasPendingToolCalls(messages: readonly ToolCallLinks[]): boolean {
  const answered = new Set<string>();
  for (const message of messages.toReversed()) {
    if (message.type === "system" || message.type === "remove") continue;
    if (message.tool_call_id !== undefined) answered.add(message.tool_call_id);
    else return (message.tool_calls ?? []).some((call) => call.id === undefined || !answered.has(call.id));
  }
  return false;
}
