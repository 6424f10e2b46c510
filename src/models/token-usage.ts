import { AsyncLocalStorage } from "node:async_hooks";
import type { BaseMessage } from "@langchain/core/messages";
import { propertyOf } from "../input/plain-json.js";
import { estimateTokens } from "../text/estimate-tokens.js";
import { rawText } from "./model-answer.js";

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export const spanTokens = new AsyncLocalStorage<(tokens: TokenUsage) => void>();

export type Charge = (tokens: TokenUsage) => Promise<void>;

/** No call takes more: a larger report is wrong. */
const maxReportedTokens = 10_000_000;

/** Reported tokens (`usage_metadata`), or else estimates. */
export function tokenUsage(reply: BaseMessage, asked: string): TokenUsage {
  const { usage_metadata: reported } = reply as { readonly usage_metadata?: unknown };
  return {
    inputTokens: countIn(reported, "input_tokens") ?? estimateTokens(asked),
    outputTokens: countIn(reported, "output_tokens") ?? estimateTokens(rawText(reply)),
  };
}

/** Some clients report zero for an unknown count. */
function countIn(reported: unknown, name: string): number | null {
  const count = propertyOf(Object(reported), name);
  return Number.isInteger(count) && Number(count) > 0 && Number(count) <= maxReportedTokens
    ? Number(count)
    : null;
}
