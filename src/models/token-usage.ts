import type { BaseMessage } from "@langchain/core/messages";
import { estimateTokens } from "../text/estimate-tokens.js";
import { propertyOf } from "../text/plain-json.js";

/** Tokens of one call of a model. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Told what a call of a model took. */
export type Charge = (tokens: TokenUsage) => Promise<void>;

/** What went into a call and came out of it; counted only where the model does not say what it took. */
export interface CountedCall {
  readonly asked: () => string;
  /** The answer, or how many tokens it had. */
  readonly answered: () => string | number;
}

/** More than any model takes in one call: what reports more is no count. */
const mostTokens = 10_000_000;

/**
 * What a call took: as the model reports it in `usage_metadata`, what it read from a cache included; else counted.
 *
 * @param reply null where the client threw the answer away.
 */
export function tokenUsage(reply: BaseMessage | null, call: CountedCall): TokenUsage {
  const reported = reply === null ? undefined : propertyOf(reply, "usage_metadata");
  return {
    inputTokens: countIn(reported, "input_tokens") ?? estimateTokens(call.asked()),
    outputTokens: countIn(reported, "output_tokens") ?? answeredTokens(call),
  };
}

function answeredTokens({ answered }: CountedCall): number {
  const answer = answered();
  return typeof answer === "string" ? estimateTokens(answer) : answer;
}

/** Tokens of an answer that the limit of `model` cut: as many as it allows; 0 where it has no limit of its own. */
export function tokensUntilCut(model: object): number {
  const limit = propertyOf(model, "maxTokens");
  return isCount(limit) ? limit : 0;
}

/** Some clients report zeros where they were told nothing: that is no count either. */
function countIn(reported: unknown, name: string): number | null {
  if (typeof reported !== "object" || reported === null) return null;
  const count = propertyOf(reported, name);
  return isCount(count) ? count : null;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= mostTokens;
}
