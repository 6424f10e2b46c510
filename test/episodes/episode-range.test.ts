import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveConfig } from "../../src/config.js";
import {
  type EpisodeRule,
  episodeRange,
  episodeRule,
} from "../../src/episodes/episode-text.rule.js";
import type { TurnRange } from "../../src/transcript/find-messages.js";

const rule: EpisodeRule = { everyTurns: 20, keepTurns: 10 };

describe("turns of episodes", () => {
  const anyRule = fc.record({
    everyTurns: fc.integer({ min: 2, max: 30 }),
    keepTurns: fc.integer({ min: 0, max: 40 }),
  });

  /** The ranges of a conversation of `turns`, checked after each of `looks`. */
  function compress(turns: number, looks: readonly number[], by: EpisodeRule): TurnRange[] {
    const ranges: TurnRange[] = [];
    for (const seen of [...looks.filter((look) => look < turns).toSorted((a, b) => a - b), turns]) {
      for (;;) {
        const range = episodeRange(seen, ranges.at(-1)?.end ?? 0, by);
        if (!range) break;
        ranges.push(range);
      }
    }
    return ranges;
  }

  it("Episodes leave no gap, do not overlap, and exclude the last turns", () =>
    fc.assert(
      fc.property(fc.nat(300), anyRule, (turns, by) => {
        const ranges = compress(turns, [...Array(turns).keys()], by);
        let next = 1;
        for (const { start, end } of ranges) {
          expect(start).toBe(next);
          expect(end).toBeGreaterThanOrEqual(start);
          next = end + 1;
        }
        expect(next - 1).toBeLessThanOrEqual(Math.max(0, turns - by.keepTurns));
        expect(turns - (next - 1)).toBeLessThan(by.everyTurns + by.keepTurns);
      }),
    ));

  it("Episodes do not depend on when their turns are checked", () =>
    fc.assert(
      fc.property(fc.nat(300), fc.array(fc.nat(300)), anyRule, (turns, looks, by) => {
        expect(compress(turns, looks, by)).toEqual(compress(turns, [], by));
      }),
    ));

  it("Every episode after the first has the configured number of turns", () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), anyRule, (turns, by) => {
        const [, ...later] = compress(turns, [], by);
        for (const { start, end } of later) expect(end - start + 1).toBe(by.everyTurns);
      }),
    ));

  it.each([
    [{}, rule],
    [{ episodeEveryTurns: 2 }, { everyTurns: 2, keepTurns: 1 }],
    [{ episodeEveryTurns: 7 }, { everyTurns: 7, keepTurns: 3 }],
  ])("Episodes leave the latest half of the turns with the settings %j", (memories, expected) => {
    expect(episodeRule(resolveConfig({ memories }).memories)).toEqual(expected);
  });
});
