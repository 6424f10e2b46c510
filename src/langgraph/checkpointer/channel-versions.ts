import { randomInt } from "node:crypto";
import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";

/** Fractions that a version may have: twelve decimals, which a number holds beside as many steps as a thread has. */
const fractions = 10 ** 12;

/**
 * Lets no two branches of a thread have a version of a channel in common: versions are counted as before, and each
 * step's get a fraction of its own.
 *
 * A channel's value is kept under its version, and what is kept already is not written again. With whole numbers a fork,
 * which counts on from an older checkpoint, and runs at once, which count on from the same one, would be left with the
 * values of the branch that was there first. Numbers they stay: LangGraph compares old and new versions of a thread, and
 * `PostgresSaver` can go on counting them.
 */
export function countVersionsApart(saver: PostgresSaver): void {
  const counted = saver.getNextVersion.bind(saver);
  // LangGraph takes the method once for a run or an update, and binds it.
  Object.defineProperty(saver, "getNextVersion", { get: () => versionsOfRun(counted), configurable: true });
}

/** Channels that are written in one step have one version: LangGraph knows by it which nodes wrote last. */
function versionsOfRun(counted: (current: number | undefined) => number) {
  let last: { readonly current: number | undefined; readonly next: number } | undefined;
  return (current: number | undefined): number => {
    if (!last || last.current !== current) {
      last = { current, next: Math.floor(counted(current)) + randomInt(1, fractions) / fractions };
    }
    return last.next;
  };
}
