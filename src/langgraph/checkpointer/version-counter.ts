import { randomInt } from "node:crypto";
import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";

/** Twelve decimals: a double also holds as many steps as a thread has. */
const fractions = 10 ** 12;

/**
 * Adds a random fraction to the versions of each step: `PostgresSaver` stores one value for each
 * version of a channel, so with whole numbers a fork or a concurrent run would read the other
 * branch's values.
 */
export function countVersionsApart(saver: PostgresSaver): void {
  const counted = saver.getNextVersion.bind(saver);
  // LangGraph reads the method once for a run or an update.
  Object.defineProperty(saver, "getNextVersion", {
    get: () => versionsOfRun(counted),
    configurable: true,
  });
}

/** Channels written in one step share a version: LangGraph finds the last writers by it. */
function versionsOfRun(counted: (current: number | undefined) => number) {
  let last: { readonly current: number | undefined; readonly next: number } | undefined;
  return (current: number | undefined): number => {
    if (!last || last.current !== current)
      last = { current, next: Math.floor(counted(current)) + randomInt(1, fractions) / fractions };
    return last.next;
  };
}
