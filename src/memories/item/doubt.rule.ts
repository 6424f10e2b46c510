import { dayMs } from "../../clock.js";
import { longDate } from "../../text/time-zone.js";

/** A doubt that nobody settled ends, and the memory stays. */
export const doubtsForMs = 30 * dayMs;

/** Dependents of one memory that get into doubt when it ends, most important first. */
export const maxDoubted = 5;

/** Another sighting of a memory, or new content, ends a doubt about it. */
export const endedDoubt = (memory: {
  readonly id: string;
  readonly doubtedAt: Date | null;
}): string[] => (memory.doubtedAt === null ? [] : [memory.id]);

/** " (may no longer hold since 3 March 2026)", or "" for a memory that is not in doubt. */
export function doubtNote(doubtedAt: Date | null, timeZone: string): string {
  return doubtedAt === null ? "" : ` (may no longer hold since ${longDate(doubtedAt, timeZone)})`;
}
