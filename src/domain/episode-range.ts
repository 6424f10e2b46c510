/** A stretch of a thread's turns, counted from 1, both ends included. */
export interface TurnRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The next stretch of turns to become an episode; null when none is due yet.
 *
 * At every multiple of `episodeEveryTurns` all but the last `episodeKeepTurns` are compressed: 1–10 at turn 20,
 * 11–30 at 40, 31–50 at 60. The stretches
 * depend on the turns alone and not on when someone looks: what was missed at turn 20 is the same episode at 45.
 *
 * @param turns turns the thread has.
 * @param compressedTurns the last turn that has been compressed; 0 for none.
 */
export function episodeRange(
  turns: number,
  compressedTurns: number,
  rule: { readonly episodeEveryTurns: number; readonly episodeKeepTurns: number },
): TurnRange | null {
  const { episodeEveryTurns: every, episodeKeepTurns: kept } = rule;
  const boundary = (Math.floor((compressedTurns + kept) / every) + 1) * every;
  return boundary > turns ? null : { start: compressedTurns + 1, end: boundary - kept };
}
