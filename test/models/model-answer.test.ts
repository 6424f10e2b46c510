import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { UnusableOutput } from "../../src/errors.js";
import { answersIn, cutReason } from "../../src/models/model-answer.js";

// Other answers come from the stubs, in call-structured.
const ended = (response_metadata: Record<string, unknown>, rest: object = {}) =>
  new AIMessage({ content: "secret words", ...rest, response_metadata });
it.each<[string, Record<string, unknown>]>([
  ["OpenAI, when two chunks said so", { finish_reason: "lengthlength" }],
  ["Anthropic, out of context", { stop_reason: "model_context_window_exceeded" }],
  ["Bedrock", { stopReason: "max_tokens" }],
  ["Bedrock, streamed", { messageStop: { stopReason: "max_tokens" } }],
  ["Ollama", { done_reason: "length", model: "llama" }],
  ["Mistral", { finish_reason: "model_length" }],
  ["Vertex", { finishReason: "FINISH_REASON_MAX_TOKENS" }],
  ["an answer to choose from", { choices: [{ finish_reason: "length" }] }],
  ["a gateway", { finish_reason: "context_length_exceeded" }],
  ["another gateway", { stop_reason: "token_limit_reached" }],
  ["DeepSeek, out of resources", { finish_reason: "insufficient_system_resource" }],
])("The token limit that cut an answer is recognised (%s)", (_, metadata) =>
  expect(cutReason(ended(metadata))).toMatch(/^\w+$/),
);

it.each<[string, BaseMessage]>([
  [
    "a refusing part",
    ended({ status: "completed" }, { content: [{ type: "refusal", refusal: "No." }] }),
  ],
  [
    "OpenAI's responses",
    ended({ status: "incomplete", incomplete_details: { reason: "content_filter" } }),
  ],
  ["Gemini's prompt", ended({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } })],
  ["Bedrock", ended({ stopReason: "guardrail_intervened" })],
])("A withheld answer is invalid (%s)", (_, message) => {
  let error: unknown;
  try {
    cutReason(message);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({
    code: "MODEL_OUTPUT_INVALID",
    message: expect.stringMatching(/refused/),
  });
  expect((error as Error).cause).toBeInstanceOf(UnusableOutput);
  expect(String(error)).not.toContain("secret");
});

it.each<[string, Record<string, unknown>]>([
  ["OpenAI's responses", { status: "completed", incomplete_details: null }],
  ["Anthropic", { stop_reason: "tool_use", stop_sequence: null, model: "max_tokens" }],
  ["Gemini", { finishReason: "STOP", safetyRatings: [{ category: "HARM", probability: "LOW" }] }],
  ["Ollama", { done_reason: "stop", done: true }],
  ["one that says nothing", {}],
])("A complete answer is accepted (%s)", (_, metadata) =>
  expect(cutReason(ended(metadata))).toBeUndefined(),
);

it("What the model wrote goes before what a lenient client made of it", () => {
  const open = '{"reasoning":"…","facts":[';
  const chunk = new AIMessageChunk({
    content: "",
    tool_call_chunks: [{ type: "tool_call_chunk", name: "facts", args: open, index: 0, id: "1" }],
  });
  expect(chunk.tool_calls?.[0]?.args).toEqual({ reasoning: "…", facts: [] });
  const additional_kwargs = {
    tool_calls: [
      { id: "1", type: "function" as const, function: { name: "facts", arguments: open } },
    ],
  };
  const tool_calls = [{ name: "facts", args: { facts: [] }, id: "1" }];
  const kept = new AIMessage({ content: "", tool_calls, additional_kwargs });
  for (const message of [chunk, kept]) expect(answersIn(message, "facts", false)).toEqual([]);
});

it("An answer is in calls of the requested tool, in the only call, or in the text", () => {
  const calls = (...names: string[]) =>
    new AIMessage({
      content: '{"text":1}',
      tool_calls: names.map((name, id) => ({ name, args: { id }, id: `${id}` })),
    });
  const answers = (...names: string[]) => answersIn(calls(...names), "facts", false);
  expect(answers("other", "facts", "facts")).toEqual([{ id: 1 }, { id: 2 }]);
  expect(answers("functions.facts")).toEqual([{ id: 0 }]);
  expect(answers("other", "another")).toEqual([{ text: 1 }]);
  expect(answers()).toEqual([{ text: 1 }]);
});
