/** A stretch of a thread's turns, counted from 1, both ends included. */
export interface TurnRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The next stretch of turns to become an episode; null when none is due yet.
 *
 * At every multiple of `everyTurns` all but the last `keepTurns` are compressed: 1–10 at turn 20, 11–30 at 40,
 * 31–50 at 60 (seed 002, "Example: 100-Turn Conversation", as design §5 settles it). The stretches depend on
 * the turns alone and not on when someone looks: what was missed at turn 20 is the same episode at turn 45.
 *
 * @param turns turns the thread has.
 * @param compressedTurns the last turn that an episode holds; 0 for none.
 */
export function episodeRange(
  turns: number,
  compressedTurns: number,
  { everyTurns, keepTurns }: { readonly everyTurns: number; readonly keepTurns: number },
): TurnRange | null {
  const boundary = Math.floor((compressedTurns + keepTurns) / everyTurns + 1) * everyTurns;
  return boundary > turns ? null : { start: compressedTurns + 1, end: boundary - keepTurns };
}
