import type { MemoriesSettings } from "../memories/item/memories-settings.js";
import type { WriteConfig } from "../memories/write/write-types.js";
import { modelText } from "../memories/write/writing-constraints.rule.js";
import type { Runtime } from "../runtime.js";
import { visibleText } from "../text/storable-text.js";
import type { TurnRange } from "../transcript/find-messages.js";
import type { TaskRuntime } from "../work/jobs-options.js";

/**
 * The next turns to compress; null if none are due. Every `everyTurns` turns all but the last
 * `keepTurns` are compressed: 1–10 at turn 20, 11–30 at 40. Late work makes the same episodes.
 */
export function episodeRange(
  turns: number,
  compressedTurns: number,
  { everyTurns, keepTurns }: EpisodeRule,
): TurnRange | null {
  const boundary = (Math.floor((compressedTurns + keepTurns) / everyTurns) + 1) * everyTurns;
  return boundary > turns ? null : { start: compressedTurns + 1, end: boundary - keepTurns };
}

export interface EpisodeRule {
  readonly everyTurns: number;
  readonly keepTurns: number;
}

export function episodeRule({
  episodeEveryTurns,
  episodeKeepShare,
}: MemoriesSettings): EpisodeRule {
  return {
    everyTurns: episodeEveryTurns,
    keepTurns: Math.floor(episodeEveryTurns * episodeKeepShare),
  };
}

/** At most two sentences. @throws MemoryError `MODEL_OUTPUT_INVALID` without words */
export const episodeText = (answer: string): string =>
  modelText("episode", visibleText(answer).trim());

export type EpisodesRuntime = Runtime<WriteConfig> & TaskRuntime;
