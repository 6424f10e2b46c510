import fc from "fast-check";
import { expect } from "vitest";
import type { Preset } from "../../src/transcript/context-options.js";
import type { TestDatabase } from "../support/test-database.js";
import { histories } from "./histories.js";
import { playHistory } from "./play-history.js";
import type { Replays } from "./replays.js";

export interface HowMany {
  readonly atLeast: number;
  /** Goes on until so much processor time is used. @default stops at once */
  readonly processorMs?: number;
}

const batch = 2;

/** The same histories in each run, so that a failure is the change's; `PROPERTY_SEED` for others. */
const firstSeed = 51_000;

/**
 * Plays random histories, and prints how many, the seed that repeats them, and why prompts did not
 * begin with the one before. A failure tells what happened in its history, turn by turn.
 */
export async function playHistories(db: TestDatabase, preset: Preset, howMany: HowMany) {
  const { atLeast, processorMs = 0 } = howMany;
  const seed = fc.readConfigureGlobal()?.seed ?? firstSeed;
  const start = process.cpuUsage();
  const usedMs = () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000;
  };
  const folds: Record<string, number> = {};
  const replays: Replays = { turns: 0, left: 0, whole: 0, gaps: {} };
  let quoted = 0;
  let count = 0;
  for (; count < atLeast || usedMs() < processorMs; count += batch) {
    const property = fc.asyncProperty(histories(preset), async (history) => {
      const played = await playHistory(db, history);
      quoted += played.quoted;
      for (const name of ["turns", "left", "whole"] as const) replays[name] += played.replays[name];
      for (const [gap, times] of Object.entries(played.replays.gaps))
        replays.gaps[gap] = (replays.gaps[gap] ?? 0) + times;
      for (const [reason, times] of Object.entries(played.folds))
        folds[reason] = (folds[reason] ?? 0) + times;
    });
    // Shorter histories would take minutes to find, and tell little more.
    const run = await fc.check(property, {
      numRuns: batch,
      seed: seed + count,
      endOnFailure: true,
    });
    if (run.failed) throw new Error(`Seed ${seed + count}: ${run.errorInstance}`);
  }
  const figures = { seed, processorMs: Math.round(usedMs()), quoted, folds, replays };
  console.log(`${count} histories (${preset}): ${JSON.stringify(figures)}`);
  expect(folds["the first one"]).toBeGreaterThanOrEqual(count);
  return { quoted, replays };
}
