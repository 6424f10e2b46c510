import type { TurnRange } from "../conversation/find-messages.js";
import { MemoryError } from "../errors.js";
import type { TaskRuntime } from "../jobs/jobs-options.js";
import type { MemoryOptions } from "../memories/item/memory-options.js";
import type { WriteConfig } from "../memories/write/write-runtime.js";
import { maxCharacters, trimToLength, writingProblems } from "../memories/write/writing-constraints.rule.js";
import type { Runtime } from "../runtime.js";
import { sentencesOf } from "../text/cut-text.js";
import { headOf, visibleText } from "../text/storable-text.js";

/**
 * The next range of turns to become an episode; null when none is due.
 *
 * At every multiple of `everyTurns` all but the last `keepTurns` are compressed: 1–10 at turn 20, 11–30 at 40, 31–50 at
 * 60. Ranges depend on turns alone: what was missed at turn 20 is the same episode at 45.
 *
 * @param compressedTurns the last compressed turn; 0 for none.
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

/**
 * A model's episode as it is stored: cut after the last whole sentence, or word, that fits. @throws MemoryError
 * `MODEL_OUTPUT_INVALID` when nothing is left.
 */
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

/** An episode's subject and a verb in the present or the future. Only English is recognised this easily. */
const present =
  /^(?:the\s)?(?:user|assistant|team|they|he|she|we|both)(?:\sand\s(?:the\s)?(?:user|assistant))?\s(?:(?:also|now|then|first)\s)?(?:is|are|am|will|has|have|plans?|wants?|needs?|discuss(?:es)?|decides?|agrees?|asks?|chooses?|talks?|explores?|compares?|reviews?|learns?|fix(?:es)?|tries|try|creates?|works?|considers?|explains?|suggests?)\s/i;

/** Whether an episode is written in the present or future tense, which is wrong when it is read. */
export function tellsPresent(text: string): boolean {
  return sentencesOf(text).some((sentence) => present.test(sentence.trim()));
}

export type EpisodesRuntime = Runtime<WriteConfig> & TaskRuntime;
