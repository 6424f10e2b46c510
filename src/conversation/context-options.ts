import { z } from "zod";
import { bytesPerToken } from "../text/estimate-tokens.js";

/**
 * "ledger": prompts only grow until they are folded, so that providers cache them; background work takes several turns at
 * once. "every-round": each turn has a prompt of its own, and each turn's end starts a summary and extracts facts.
 */
export const presetSchema = z.enum(["ledger", "every-round"]).default("ledger");

export type Preset = z.output<typeof presetSchema>;

export const contextOptionsSchema = z.strictObject({
  /**
   * Tokens of messages shown word for word, four bytes each. At four fifths of it a summary is started, and the prompt is
   * folded when that is there: it takes the place of the older ones. Lower it for a small context window.
   * @default 4_000
   */
  tailTokens: z.int().min(200).max(1_000_000).default(4_000),
  /** How long the provider keeps a prompt that nobody continues: then folding is free. @default 300_000 */
  cacheMs: z.int().min(0).default(300_000),
  /**
   * Tokens of tool results that `memoryMiddleware` shows word for word; beyond, the older ones become a line each. Raise it
   * for agents that read long documents in parts. @default 16_000
   */
  toolResultTokens: z.int().min(200).max(1_000_000).default(16_000),
});

export interface ContextConfig extends z.input<typeof contextOptionsSchema> {}

export const contextConstants = {
  /**
   * Most tokens of messages shown that no summary covers; older ones are omitted, and the prompt says how many. Reached
   * only without a model, or while summaries fail. Half of a window of 128,000.
   */
  maxGapTokens: 64_000,
  /** Most messages shown that no summary covers. A long turn of an agent's has a hundred. */
  maxGapMessages: 400,
};

export type ContextOptions = z.output<typeof contextOptionsSchema> & Readonly<typeof contextConstants>;

/**
 * Share of the tail without a summary that starts one, which is shown as soon as it is there: the longer the fold waits,
 * the more messages are paid for once more (`npm run bench:prompt`: a tenth less at 30 turns than at the full tail).
 */
const summaryShare = 0.8;

/** What follows from the preset: when summaries start, what they cover, and how many messages facts are extracted from. */
export function presetConstants(preset: Preset, { tailTokens }: Pick<ContextOptions, "tailTokens">) {
  if (preset === "every-round") return { summaries: {}, memories: {} };
  return {
    summaries: {
      // All of the conversation is kept in mind: what a window drops would be paid for once more.
      windowMessages: null,
      afterSeq: 99,
      everyMessages: 100,
      // Each fold pays for it anew.
      maxCharacters: 2_000,
      afterTokens: Math.ceil(tailTokens * summaryShare),
    },
    memories: { extractAfterMessages: 4, extractIdleMs: 60_000 },
  };
}

export type ReadLimits = Readonly<ReturnType<typeof readLimits>>;

/** A token of any text takes at most so many bytes. */
const mostBytesPerToken = 8;

/** The gap is never less than a summary waits for. */
export function readLimits({
  preset,
  context,
  summaries,
}: {
  readonly preset: Preset;
  readonly context: ContextOptions;
  readonly summaries: Readonly<
    Record<"keepRecentMessages" | "keepRecentTokens" | "everyMessages" | "afterSeq" | "afterTokens", number>
  >;
}) {
  const { everyMessages, afterSeq, afterTokens, keepRecentMessages, keepRecentTokens } = summaries;
  // While one summary is made, as much again may be said.
  const awaited = 2 * Math.max(everyMessages, afterSeq + 1);
  return {
    /** Null: each turn has a prompt of its own. */
    tailBytes: preset === "every-round" ? null : Math.ceil(context.tailTokens * summaryShare) * bytesPerToken,
    cacheMs: context.cacheMs,
    recentMessages: keepRecentMessages,
    recentBytes: keepRecentTokens * mostBytesPerToken,
    gapMessages: Math.max(context.maxGapMessages, awaited),
    gapBytes: Math.max(context.maxGapTokens, 2 * afterTokens) * bytesPerToken,
  };
}
