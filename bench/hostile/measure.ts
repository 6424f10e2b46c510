import type { HostileInput } from "./inputs.js";
import type { HostileRule } from "./rules.js";

/** How long something took with a text of 10,000 characters and with one ten times as long. */
export interface Measured {
  readonly what: string;
  readonly input: string;
  readonly shortMs: number;
  readonly longMs: number;
  readonly growth: number;
  /** Whether `longMs` was reckoned: measuring it would have taken minutes. */
  readonly reckoned?: boolean;
  /** What went wrong, if anything did. */
  readonly problem?: string;
}

/** The same of a call, with 100 kB and 1 MB. */
export interface MeasuredCall extends Measured {
  /** With 4 MB. */
  readonly maxMs: number;
}

const callCharacters = { short: 100_000, long: 1_000_000, longest: 4_000_000 };
const short = 10_000;
const long = 100_000;
/** Shorter times say nothing about growth. */
const floorMs = 0.05;
const callFloorMs = 10;
/** What takes longer than this with the short text is not tried with the long one. */
const hopelessMs = 50;
/** Growth that is linear, with room for noise. More is measured again. */
const linear = 12;

/** How long `rule` takes with `input`. */
export async function measureRule(rule: HostileRule, input: HostileInput): Promise<Measured> {
  let problem: string | undefined;
  const time = async (characters: number, runs: number) => {
    const { least, refused } = await leastOf(rule, input.text(characters), runs);
    problem ??= refused;
    return least;
  };
  const measured = (shortMs: number, longMs: number, growth: number): Measured => ({
    what: rule.name,
    input: input.name,
    shortMs,
    longMs,
    growth,
    ...(problem !== undefined && { problem }),
  });
  await time(1_000, 5);
  let [shortMs, longMs, growth] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NaN];
  // Others use the machine as well: what seems slow is measured again, and the least of each
  // counts.
  for (let tries = 0; tries < 8 && !(growth <= linear); tries++) {
    shortMs = Math.min(shortMs, await time(short, 5));
    if (shortMs > hopelessMs) {
      const doubled = (await time(2 * short, 2)) / shortMs;
      const reckonedMs = shortMs * doubled ** Math.log2(long / short);
      return {
        ...measured(shortMs, reckonedMs, growthOf(shortMs, reckonedMs, floorMs)),
        reckoned: true,
      };
    }
    longMs = Math.min(longMs, await time(long, 12));
    growth = growthOf(shortMs, longMs, floorMs);
  }
  if (growth <= linear) return measured(shortMs, longMs, growth);
  // What grows with the square also does so from twice the lengths. What an engine does at one
  // length may not.
  const twice = growthOf(await time(2 * short, 12), await time(2 * long, 12), floorMs);
  return measured(shortMs, longMs, Math.min(growth, twice));
}

/**
 * The least time of `runs`, of as many as take 0.2 seconds together, and what was wrong with a
 * result.
 */
async function leastOf({ name, run, isResult }: HostileRule, text: string, runs: number) {
  let refused: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let index = 0; index < runs && (index === 0 || least * index < 200); index++) {
    // Another string each time: engines remember what a pattern found in a string.
    const fresh = `${text.slice(0, -1)}${index % 10}`;
    fresh.charCodeAt(0);
    const from = now();
    // A result that is there is not awaited: a turn of the event loop is not the rule's.
    const given = run(fresh);
    const result = given instanceof Promise ? await given : given;
    least = Math.min(least, msBetween(from, now()));
    const fine = isResult ? isResult(result, fresh) : result !== undefined;
    if (!fine) refused = `${name} did not take it: ${JSON.stringify(result)?.slice(0, 80)}`;
  }
  return { least, refused };
}

let ids = 0;

/**
 * The same for a call with 100 kB and 1 MB; its times are the longest for which it blocked
 * everything else in the process.
 */
export async function measureCall(
  { name, run }: { name: string; run: (text: string, id: string) => Promise<boolean> },
  input: HostileInput,
): Promise<MeasuredCall> {
  let problem: string | undefined;
  const time = async (characters: number, runs: number) => {
    const text = input.text(characters);
    let least = Number.POSITIVE_INFINITY;
    for (let index = 0; index < runs && least > callFloorMs; index++) {
      const watch = watchBlocks();
      try {
        if (!(await run(text, `hostile-${ids++}`))) problem = "it was not taken";
      } catch (error) {
        problem = String(error).slice(0, 100);
      }
      least = Math.min(least, await watch.maxMs());
    }
    return least;
  };
  await time(1_000, 1);
  const shortMs = await time(callCharacters.short, 2);
  const longMs = await time(callCharacters.long, 3);
  const problemBefore = problem;
  const maxMs = await time(callCharacters.longest, 1);
  // So long a text may be refused, or take longer than a statement may.
  problem = problemBefore;
  return {
    what: name,
    input: input.name,
    shortMs,
    longMs,
    maxMs,
    growth: growthOf(shortMs, longMs, callFloorMs),
    ...(problem !== undefined && { problem }),
  };
}

interface Moment {
  readonly passedMs: number;
  readonly usedMs: number;
}

function now(): Moment {
  const { user, system } = process.cpuUsage();
  return { passedMs: performance.now(), usedMs: (user + system) / 1_000 };
}

/**
 * The less of the time that passed and of the processor's time, so that other programs of the
 * machine do not count.
 */
const msBetween = (from: Moment, to: Moment): number =>
  Math.min(to.passedMs - from.passedMs, to.usedMs - from.usedMs);

/** Watches how long each turn of the event loop takes. */
export function watchBlocks() {
  let [longest, on, at] = [0, true, now()];
  const tick = () => {
    const next = now();
    longest = Math.max(longest, msBetween(at, next));
    at = next;
    if (on) setImmediate(tick);
  };
  setImmediate(tick);
  return {
    async maxMs() {
      await new Promise(setImmediate);
      on = false;
      return longest;
    },
  };
}

function growthOf(shortMs: number, longMs: number, minMs: number): number {
  return Math.max(longMs, minMs) / Math.max(shortMs, minMs);
}
