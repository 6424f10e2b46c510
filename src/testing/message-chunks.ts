import { type AIMessage, AIMessageChunk } from "@langchain/core/messages";

/** `message` as one chunk; calls, ids and usage are kept. */
export function toChunk(message: AIMessage): AIMessageChunk {
  if (AIMessageChunk.isInstance(message)) return message;
  const chunk = new AIMessageChunk({
    content: message.content,
    additional_kwargs: message.additional_kwargs,
    response_metadata: message.response_metadata,
    tool_calls: message.tool_calls ?? [],
    ...(message.id === undefined ? {} : { id: message.id }),
    ...(message.name === undefined ? {} : { name: message.name }),
    ...(message.usage_metadata === undefined ? {} : { usage_metadata: message.usage_metadata }),
  });
  // the constructor drops them
  chunk.invalid_tool_calls = message.invalid_tool_calls ?? [];
  return chunk;
}

/**
 * `message` in the pieces a provider would stream: a chunk for each word, then each tool call, then an empty one
 * with the metadata and the usage. Joined again they are the same message.
 */
export function* chunksOf(message: AIMessage): Generator<AIMessageChunk> {
  const id = message.id === undefined ? {} : { id: message.id };
  const pieces =
    typeof message.content === "string"
      ? (message.content.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? [])
      : [message.content];
  for (const content of pieces) yield new AIMessageChunk({ ...id, content });

  // Core's bridge to stream events keeps text in block 0, and a call with the same index is lost in it.
  let index = pieces.length > 0 ? 1 : 0;
  for (const call of streamedCalls(message)) {
    const chunk = { type: "tool_call_chunk" as const, ...call, index: index++ };
    yield new AIMessageChunk({ ...id, content: "", tool_call_chunks: [chunk] });
  }

  yield new AIMessageChunk({
    ...id,
    content: "",
    additional_kwargs: message.additional_kwargs,
    response_metadata: message.response_metadata,
    ...(message.name === undefined ? {} : { name: message.name }),
    ...(message.usage_metadata === undefined ? {} : { usage_metadata: message.usage_metadata }),
  });
}

function streamedCalls(message: AIMessage): { name?: string; args: string; id?: string }[] {
  const valid = (message.tool_calls ?? []).map((call) => ({ ...call, args: JSON.stringify(call.args) }));
  const invalid = (message.invalid_tool_calls ?? []).map((call) => ({ ...call, args: call.args ?? "" }));
  return [...valid, ...invalid].map(({ name, args, id }) => ({
    args,
    ...(name === undefined ? {} : { name }),
    ...(id === undefined ? {} : { id }),
  }));
}
