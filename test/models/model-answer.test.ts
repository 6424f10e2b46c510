import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { answersIn, malformedOutput, requireWhole } from "../../src/models/model-answer.js";

const ended = (response_metadata: Record<string, unknown>, rest: object = {}) =>
  new AIMessage({ content: "secret words", ...rest, response_metadata });
const errorOf = (message: BaseMessage) => {
  try {
    requireWhole(message);
    return null;
  } catch (error) {
    return error as Error & { code: string };
  }
};

it.each<[string, Record<string, unknown>]>([
  ["OpenAI", { finish_reason: "length" }],
  ["OpenAI, when two chunks said so", { finish_reason: "lengthlength" }],
  [
    "OpenAI's responses",
    { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
  ],
  ["Anthropic", { stop_reason: "max_tokens" }],
  ["Anthropic, out of context", { stop_reason: "model_context_window_exceeded" }],
  ["Gemini", { finishReason: "MAX_TOKENS" }],
  ["Bedrock", { stopReason: "max_tokens" }],
  ["Bedrock, streamed", { messageStop: { stopReason: "max_tokens" } }],
  ["Ollama", { done_reason: "length", model: "llama" }],
  ["Mistral", { finish_reason: "model_length" }],
  ["Vertex", { finishReason: "FINISH_REASON_MAX_TOKENS" }],
  ["an answer to choose from", { choices: [{ finish_reason: "length" }] }],
  ["a gateway", { finish_reason: "context_length_exceeded" }],
  ["another gateway", { stop_reason: "token_limit_reached" }],
  ["DeepSeek, out of resources", { finish_reason: "insufficient_system_resource" }],
])("An answer cut by the token limit is a failure that says what to do (%s)", (_, metadata) => {
  const error = errorOf(ended(metadata));
  expect(error?.code).toBe("MODEL_FAILED");
  expect(error?.message).toMatch(/token limit.*raise maxTokens/);
  expect(String(error)).not.toContain("secret");
});

it.each<[string, BaseMessage]>([
  ["OpenAI's filter", ended({ finish_reason: "content_filter" })],
  [
    "OpenAI's refusal",
    ended({ finish_reason: "stop" }, { additional_kwargs: { refusal: "I cannot." } }),
  ],
  [
    "a refusing part",
    ended({ status: "completed" }, { content: [{ type: "refusal", refusal: "No." }] }),
  ],
  [
    "OpenAI's responses",
    ended({ status: "incomplete", incomplete_details: { reason: "content_filter" } }),
  ],
  ["Anthropic", ended({ stop_reason: "refusal" })],
  ["Gemini", ended({ finishReason: "SAFETY" })],
  ["Gemini's prompt", ended({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } })],
  ["Bedrock", ended({ stopReason: "guardrail_intervened" })],
])("A withheld answer is invalid (%s)", (_, message) => {
  const error = errorOf(message);
  expect(error).toMatchObject({
    code: "MODEL_OUTPUT_INVALID",
    message: expect.stringMatching(/refused/),
  });
  expect(malformedOutput(error)).not.toBeNull();
  expect(String(error)).not.toContain("secret");
});

it.each<[string, Record<string, unknown>]>([
  ["OpenAI", { finish_reason: "stop" }],
  ["OpenAI's tools", { finish_reason: "tool_calls" }],
  ["OpenAI's responses", { status: "completed", incomplete_details: null }],
  ["Anthropic", { stop_reason: "tool_use", stop_sequence: null, model: "max_tokens" }],
  ["Gemini", { finishReason: "STOP", safetyRatings: [{ category: "HARM", probability: "LOW" }] }],
  ["Ollama", { done_reason: "stop", done: true }],
  ["one that says nothing", {}],
])("A complete answer is accepted (%s)", (_, metadata) =>
  expect(errorOf(ended(metadata))).toBeNull(),
);

describe("arguments of calls", () => {
  const open = '{"reasoning":"…","facts":[';

  it("The arguments of a call are broken if the model's JSON is, even if a lenient parser accepted it", () => {
    const chunk = new AIMessageChunk({
      content: "",
      tool_call_chunks: [{ type: "tool_call_chunk", name: "facts", args: open, index: 0, id: "1" }],
    });
    expect(chunk.tool_calls?.[0]?.args).toEqual({ reasoning: "…", facts: [] });
    expect(answersIn(chunk, "facts")).toEqual({ values: [], broken: true });
    const kept = new AIMessage({
      content: "",
      tool_calls: [{ name: "facts", args: { facts: [] }, id: "1" }],
      additional_kwargs: {
        tool_calls: [{ id: "1", type: "function", function: { name: "facts", arguments: open } }],
      },
    });
    expect(answersIn(kept, "facts")).toEqual({ values: [], broken: true });
    const invalid = new AIMessage({
      content: "",
      invalid_tool_calls: [
        { type: "invalid_tool_call", name: "facts", args: open, id: "1", error: "…" },
      ],
    });
    expect(answersIn(invalid, "facts")).toEqual({ values: [], broken: true });
  });

  it("The arguments of a call are those of the requested tool, or of the only one called", () => {
    const calls = (...names: string[]) =>
      new AIMessage({
        content: '{"text":1}',
        tool_calls: names.map((name, id) => ({ name, args: { id }, id: `${id}` })),
      });
    expect(answersIn(calls("other", "facts", "facts"), "facts").values).toEqual([
      { id: 1 },
      { id: 2 },
    ]);
    expect(answersIn(calls("functions.facts"), "facts").values).toEqual([{ id: 0 }]);
    expect(answersIn(calls("other", "another"), "facts").values).toEqual([{ text: 1 }]);
    expect(answersIn(calls(), "facts").values).toEqual([{ text: 1 }]);
  });
});
