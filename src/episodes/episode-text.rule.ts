import type { TurnRange } from "../conversation/find-messages.js";
import { MemoryError } from "../errors.js";
import type { TaskRuntime } from "../jobs/jobs-options.js";
import type { MemoryOptions } from "../memories/item/memory-options.js";
import type { WriteConfig } from "../memories/write/write-runtime.js";
import { maxCharacters, trimToLength, writingProblems } from "../memories/write/writing-constraints.rule.js";
import type { Runtime } from "../runtime.js";
import { headOf, visibleText } from "../text/storable-text.js";

/**
 * The next range of turns to become an episode; null when none is due. At every multiple of `everyTurns` all but the
 * last `keepTurns` are compressed: 1–10 at turn 20, 11–30 at 40. Missed at turn 20, it is the same episode at 45.
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

export function episodeRule({ episodeEveryTurns, episodeKeepShare }: MemoryOptions): EpisodeRule {
  return { everyTurns: episodeEveryTurns, keepTurns: Math.floor(episodeEveryTurns * episodeKeepShare) };
}

/** Cuts after the last whole sentence, or word, that fits. @throws MemoryError `MODEL_OUTPUT_INVALID` if empty */
export function episodeText(text: string): string {
  const whole = visibleText(text).trim();
  const trimmed = trimToLength("episode", whole) ?? cutAtWord(whole, maxCharacters.episode);
  const [problem] = writingProblems("episode", trimmed);
  if (problem === undefined) return trimmed;
  throw new MemoryError("MODEL_OUTPUT_INVALID", `The model's episode cannot be kept: ${problem}.`, {
    cause: { output: whole },
  });
}

function cutAtWord(text: string, most: number): string {
  const head = headOf(text, most - 1);
  const end = head.search(/\s\S*$/);
  return `${end > most / 2 ? head.slice(0, end) : head}…`;
}

export type EpisodesRuntime = Runtime<WriteConfig> & TaskRuntime;
