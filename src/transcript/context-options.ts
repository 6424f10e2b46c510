import { z } from "zod";
import { bytesPerToken } from "../text/estimate-tokens.js";

/**
 * "ledger": prompts only grow until they are folded, so that providers cache them; background work
 * is batched. "every-round": each turn has its own prompt; its end starts a summary and extracts
 * facts.
 */
export const presetSchema = z.enum(["ledger", "every-round"]).default("ledger");

export type Preset = z.output<typeof presetSchema>;

export const contextOptionsSchema = z.strictObject({
  /**
   * Tokens of messages shown verbatim, four bytes each. At 80 % a summary starts; when complete, it
   * replaces the older messages. Lower it for a small context window.
   * @default 4_000
   */
  tailTokens: z.int().min(200).max(1_000_000).default(4_000),
  /** How long the provider caches an unused prompt: then folding is free. @default 300_000 */
  cacheMs: z.int().min(0).default(300_000),
  /**
   * Tokens of tool results that `memoryMiddleware` shows verbatim; older ones become a line.
   * @default 16_000
   */
  toolResultTokens: z.int().min(200).max(1_000_000).default(16_000),
});

export const contextConstants = {
  /**
   * Upper bound of unsummarised tokens shown, without a model or while summaries fail: half of a
   * window of 128,000.
   */
  maxGapTokens: 64_000,
  /** Upper bound of unsummarised messages shown. A long agent turn has a hundred. */
  maxGapMessages: 400,
};

export type ContextOptions = z.output<typeof contextOptionsSchema> &
  Readonly<typeof contextConstants>;

/**
 * Share of the tail that starts a summary: a tenth cheaper at 30 turns than all of it (`npm run
 * bench:prompt`).
 */
const summaryShare = 0.8;

export function presetConstants(
  preset: Preset,
  { tailTokens }: Pick<ContextOptions, "tailTokens">,
) {
  if (preset === "every-round") return { summaries: {}, memories: { factsPerMessage: 3 } };
  return {
    summaries: {
      // Without a window, no message leaves the summary: a later summary would have to read it
      // again.
      windowMessages: null,
      afterSeq: 99,
      everyMessages: 100,
      maxCharacters: 2_000,
      afterTokens: Math.ceil(tailTokens * summaryShare),
    },
    memories: { extractAfterMessages: 4, extractIdleMs: 60_000 },
  };
}

export type ReadLimits = Readonly<ReturnType<typeof readLimits>>;

/** Of the longest tokens: recent messages are never cut below their bound in tokens. */
const maxBytesPerToken = 8;

/** The gap (messages without a summary) may always hold twice what a summary waits for. */
export function readLimits({
  preset,
  context,
  summaries,
}: {
  readonly preset: Preset;
  readonly context: ContextOptions;
  readonly summaries: Readonly<
    Record<
      "keepRecentMessages" | "keepRecentTokens" | "everyMessages" | "afterSeq" | "afterTokens",
      number
    >
  >;
}) {
  const { everyMessages, afterSeq, afterTokens, keepRecentMessages, keepRecentTokens } = summaries;
  // While one summary is made, as many messages may arrive.
  const awaited = 2 * Math.max(everyMessages, afterSeq + 1);
  return {
    epochBytes:
      preset === "every-round"
        ? null
        : Math.ceil(context.tailTokens * summaryShare) * bytesPerToken,
    cacheMs: context.cacheMs,
    recentMessages: keepRecentMessages,
    recentBytes: keepRecentTokens * maxBytesPerToken,
    gapMessages: Math.max(context.maxGapMessages, awaited),
    gapBytes: Math.max(context.maxGapTokens, 2 * afterTokens) * bytesPerToken,
  };
}
