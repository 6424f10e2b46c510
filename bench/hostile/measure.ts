import { monitorEventLoopDelay } from "node:perf_hooks";
import type { HostileInput } from "./inputs.js";
import type { HostileRule } from "./rules.js";

/** How long something took with a text of 10,000 characters and with ten times that. */
export interface Measured {
  readonly what: string;
  readonly input: string;
  readonly shortMs: number;
  readonly longMs: number;
  readonly growth: number;
  /** Whether the long one is reckoned: it would have taken minutes. */
  readonly reckoned?: boolean;
  /** What went wrong, if anything. */
  readonly problem?: string;
}

const short = 10_000;
const long = 100_000;
/** Shorter times tell nothing of growth. */
const floorMs = 0.05;
const callFloorMs = 10;
/** What takes longer with the short text is not tried with the long one. */
const hopelessMs = 50;

export async function measureRule(
  { name, run, isResult }: HostileRule,
  input: HostileInput,
): Promise<Measured> {
  let problem: string | undefined;
  const time = async (text: string, runs: number) => {
    let least = Number.POSITIVE_INFINITY;
    for (let index = 0; index < runs && (index === 0 || least * index < 200); index++) {
      // Another string each time: of the same one, engines remember what a pattern found in it.
      const fresh = `${text.slice(0, -1)}${index % 10}`;
      fresh.charCodeAt(0);
      const from = performance.now();
      // Not awaited where it is at hand: a turn of the event loop is not the rule's.
      const given = run(fresh);
      const result = given instanceof Promise ? await given : given;
      least = Math.min(least, performance.now() - from);
      const fine = isResult ? isResult(result, fresh) : result !== undefined;
      if (!fine) problem = `${name} did not take it: ${JSON.stringify(result)?.slice(0, 80)}`;
    }
    return least;
  };
  await time(input.text(1_000), 5);
  const shortText = input.text(short);
  let [shortMs, longMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const growth = () => Math.max(longMs, floorMs) / Math.max(shortMs, floorMs);
  // Others use the machine as well: what seems slow is measured again, and the least of each counts.
  for (let tries = 0; tries < 8 && !(growth() <= 12); tries++) {
    shortMs = Math.min(shortMs, await time(shortText, 5));
    if (shortMs > hopelessMs) {
      const doubled = (await time(input.text(2 * short), 2)) / shortMs;
      longMs = shortMs * doubled ** Math.log2(long / short);
      return {
        what: name,
        input: input.name,
        shortMs,
        longMs,
        growth: growth(),
        reckoned: true,
        ...(problem && { problem }),
      };
    }
    longMs = Math.min(longMs, await time(input.text(long), 12));
  }
  // What grows with the square does so from twice the lengths too; what an engine does at one length, it may not.
  const twice = growth() <= 12 ? growth() : await growthFrom(2 * short, 2 * long);
  const least = Math.min(growth(), twice);
  return { what: name, input: input.name, shortMs, longMs, growth: least, ...(problem && { problem }) };

  async function growthFrom(shorter: number, longer: number): Promise<number> {
    const times = [await time(input.text(shorter), 12), await time(input.text(longer), 12)] as const;
    return Math.max(times[1], floorMs) / Math.max(times[0], floorMs);
  }
}

let ids = 0;

/** The same of a call; its times are the longest for which it held up everything else. */
export async function measureCall(
  { name, run }: { name: string; run: (text: string, id: string) => Promise<boolean> },
  input: HostileInput,
): Promise<Measured> {
  let problem: string | undefined;
  const time = async (text: string) => {
    let least = Number.POSITIVE_INFINITY;
    for (let index = 0; index < 3; index++) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      await new Promise((resolve) => setTimeout(resolve, 5));
      delay.enable();
      await new Promise((resolve) => setTimeout(resolve, 5));
      try {
        if (!(await run(text, `hostile-${ids++}`))) problem = "it was not taken";
      } catch (error) {
        problem = String(error).slice(0, 100);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
      delay.disable();
      least = Math.min(least, delay.max / 1e6);
    }
    return least;
  };
  const shortMs = await time(input.text(short));
  const longMs = shortMs > 2_000 ? shortMs * 10 : await time(input.text(long));
  const growth = Math.max(longMs, callFloorMs) / Math.max(shortMs, callFloorMs);
  return {
    what: name,
    input: input.name,
    shortMs,
    longMs,
    growth,
    ...(problem !== undefined && { problem }),
  };
}
