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
  readonly answered: () => string | number;
}

/** No call takes more: a larger report is wrong. */
const mostTokens = 10_000_000;

/** Reported tokens (`usage_metadata`), or else estimates. @param reply null: LangChain gave none */
export function tokenUsage(reply: BaseMessage | null, call: CountedCall): TokenUsage {
  const reported = reply === null ? undefined : propertyOf(reply, "usage_metadata");
  return {
    inputTokens: countIn(reported, "input_tokens") ?? estimateTokens(call.asked()),
    outputTokens: countIn(reported, "output_tokens") ?? estimated(call.answered()),
  };
}

const estimated = (answer: string | number) =>
  typeof answer === "string" ? estimateTokens(answer) : answer;

/** Its `maxTokens`; 0 if unknown. */
export function tokensUntilCut(model: object): number {
  const limit = propertyOf(model, "maxTokens");
  return isCount(limit) ? limit : 0;
}

function countIn(reported: unknown, name: string): number | null {
  if (typeof reported !== "object" || reported === null) return null;
  const count = propertyOf(reported, name);
  return isCount(count) ? count : null;
}

/** Some clients report zero for an unknown count. */
const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value > 0 && value <= mostTokens;
