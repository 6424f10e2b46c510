import { z } from "zod";
import { bytesPerToken } from "../text/estimate-tokens.js";

export const conversationOptionsSchema = z.strictObject({
  /**
   * Most tokens of messages shown that no summary covers, four bytes each; older ones are omitted, and the prompt says how
   * many. Reached only without a model, or while summaries fail. Half of a window of 128,000: raise it for a larger one.
   * @default 64_000
   */
  maxGapTokens: z.int().min(200).default(64_000),
});

export const conversationConstants = {
  /** Most messages shown that no summary covers. A long round of an agent's has a hundred. */
  maxGapMessages: 400,
};

export interface ConversationConfig extends z.input<typeof conversationOptionsSchema> {}

export type ConversationOptions = z.output<typeof conversationOptionsSchema> &
  Readonly<typeof conversationConstants>;

export type ReadLimits = Readonly<ReturnType<typeof readLimits>>;

/** A token of any text takes at most so many bytes. */
const mostBytesPerToken = 8;

/** The gap is never less than a summary waits for. */
export function readLimits({
  conversation,
  summaries,
}: {
  readonly conversation: ConversationOptions;
  readonly summaries: Readonly<
    Record<"keepRecentMessages" | "keepRecentTokens" | "everyMessages" | "afterSeq" | "afterTokens", number>
  >;
}) {
  const { everyMessages, afterSeq, afterTokens, keepRecentMessages, keepRecentTokens } = summaries;
  // While one summary is made, as much again may be said.
  const awaited = 2 * Math.max(everyMessages, afterSeq + 1);
  return {
    recentMessages: keepRecentMessages,
    recentBytes: keepRecentTokens * mostBytesPerToken,
    gapMessages: Math.max(conversation.maxGapMessages, awaited),
    gapBytes: Math.max(conversation.maxGapTokens, 2 * afterTokens) * bytesPerToken,
  };
}
