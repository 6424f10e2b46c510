import type { TurnRange } from "../conversation/find-messages.js";
import { MemoryError } from "../errors.js";
import type { TaskRuntime } from "../jobs/jobs-options.js";
import type { MemoriesSettings } from "../memories/item/memory-options.js";
import type { WriteConfig } from "../memories/write/write-types.js";
import {
  maxCharacters,
  trimToLength,
  writingProblems,
} from "../memories/write/writing-constraints.rule.js";
import type { Runtime } from "../runtime.js";
import { headOf, visibleText } from "../text/storable-text.js";

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

/**
 * Cuts after the last whole sentence, or word, that fits.
 * @throws MemoryError `MODEL_OUTPUT_INVALID` if empty
 */
export function episodeText(text: string): string {
  const output = visibleText(text).trim();
  const trimmed = trimToLength("episode", output) ?? cutAtWord(output, maxCharacters.episode);
  const [problem] = writingProblems("episode", trimmed);
  if (problem === undefined) return trimmed;
  const cause = { output };
  throw new MemoryError("MODEL_OUTPUT_INVALID", `The model's episode cannot be kept: ${problem}.`, {
    cause,
  });
}

function cutAtWord(text: string, most: number): string {
  const head = headOf(text, most - 1);
  const end = head.search(/\s\S*$/);
  return `${end > most / 2 ? head.slice(0, end) : head}…`;
}

export type EpisodesRuntime = Runtime<WriteConfig> & TaskRuntime;
