import { AsyncLocalStorage } from "node:async_hooks";
import type { BaseMessage } from "@langchain/core/messages";
import { estimateTokens } from "../text/estimate-tokens.js";
import { propertyOf } from "../text/plain-json.js";

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export const spanTokens = new AsyncLocalStorage<(tokens: TokenUsage) => void>();

export type Charge = (tokens: TokenUsage) => Promise<void>;

/** Called only if the model does not report its usage. */
export interface CountedCall {
  readonly asked: () => string;
  readonly answered: () => string;
}

/** No call takes more: a larger report is wrong. */
const mostTokens = 10_000_000;

/** Reported tokens (`usage_metadata`), or else estimates. */
export function tokenUsage(reply: BaseMessage, call: CountedCall): TokenUsage {
  const reported = propertyOf(reply, "usage_metadata");
  return {
    inputTokens: countIn(reported, "input_tokens") ?? estimateTokens(call.asked()),
    outputTokens: countIn(reported, "output_tokens") ?? estimateTokens(call.answered()),
  };
}

function countIn(reported: unknown, name: string): number | null {
  if (typeof reported !== "object" || reported === null) return null;
  const count = propertyOf(reported, name);
  return isCount(count) ? count : null;
}

/** Some clients report zero for an unknown count. */
const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value > 0 && value <= mostTokens;
