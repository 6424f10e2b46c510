import { AIMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tokenUsage } from "../../src/models/token-usage.js";
import { forAll } from "../support/for-all.js";

const counted = "one two three";
const byCount = { inputTokens: 4, outputTokens: 3 };
const reply = (usage_metadata: unknown) =>
  Object.assign(new AIMessage("four five"), { usage_metadata });

describe("usage of a call", () => {
  it.each([
    ["nothing", undefined],
    ["text", "many"],
    ["zeros", { input_tokens: 0, output_tokens: 0, total_tokens: 0 }],
    ["no numbers", { input_tokens: Number.NaN, output_tokens: Number.POSITIVE_INFINITY }],
    ["negative numbers", { input_tokens: -5, output_tokens: -5 }],
    ["impossibly large numbers", { input_tokens: 1e15, output_tokens: 1e15 }],
  ])("The usage of a call is estimated if the model reports %s", (_, usage) =>
    expect(tokenUsage(reply(usage), counted)).toEqual(byCount),
  );

  it("The usage of a call is estimated only for the part that the model does not report", () =>
    expect(tokenUsage(reply({ input_tokens: 50, output_tokens: 0 }), counted)).toEqual({
      inputTokens: 50,
      outputTokens: 3,
    }));

  it("The usage of a call is a positive integer for any report", () =>
    forAll(fc.anything(), fc.anything(), fc.anything(), (whole, input, output) => {
      for (const usage of [whole, { input_tokens: input, output_tokens: output }]) {
        const { inputTokens, outputTokens } = tokenUsage(reply(usage), counted);
        for (const tokens of [inputTokens, outputTokens]) {
          expect(Number.isInteger(tokens) && tokens > 0 && tokens <= 10_000_000).toBe(true);
        }
      }
    }));
});
