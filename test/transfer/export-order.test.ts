import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isoTimeMs } from "../../src/clock.js";
import { isDeeper } from "../../src/text/plain-json.js";
import type { ExportLine } from "../../src/transfer/export-line.js";
import { exportOrder } from "../../src/transfer/export-order.rule.js";

const problemsOf = (lines: object[]) => {
  const order = exportOrder();
  return lines.map((line) => order(line as ExportLine)).filter((problem) => problem !== null);
};
const memory = (id: number, by: number | null) => ({
  type: "memory",
  id: String(id),
  supersededBy: by === null ? null : String(by),
});
const thread = { type: "thread", threadId: "t" };
const message = (seq: number, messageId = String(seq)) => ({
  type: "message",
  threadId: "t",
  seq,
  messageId,
});
const summary = (endSeq: number, base: number | null) => ({
  ...{ type: "summary", threadId: "t", startSeq: 0, endSeq, createdAt: String(endSeq) },
  base: base === null ? null : { startSeq: 0, endSeq: base, createdAt: String(base) },
});

describe("the order of an export", () => {
  it("refuses exactly the memories that would close a circle", () => {
    const edges = fc.uniqueArray(fc.tuple(fc.nat({ max: 12 }), fc.option(fc.nat({ max: 12 }))), {
      selector: ([id]) => id,
    });
    fc.assert(
      fc.property(edges, (given) => {
        const order = exportOrder();
        const kept = new Map<number, number>();
        for (const [id, by] of given) {
          let end = by;
          while (end !== null && end !== id && kept.has(end)) end = kept.get(end) ?? null;
          const closes = by !== null && end === id;
          expect(order(memory(id, by) as ExportLine) !== null).toBe(closes);
          if (by !== null && !closes) kept.set(id, by);
        }
      }),
    );
  });

  it("walks long chains once, in whichever direction they are told", () => {
    const length = 100_000;
    const chain = Array.from({ length }, (_, id) => memory(id, id + 1));
    for (const lines of [chain, chain.toReversed()]) {
      expect(problemsOf([...lines, memory(length, 0)])).toHaveLength(1);
    }
  });

  it.each<[string, object[], RegExp]>([
    ["a gap", [thread, message(0), message(2)], /^seq: 2 stands where 1 should/],
    ["a late start", [thread, message(2_147_483_646)], /^seq: /],
    ["a message twice", [thread, message(0), message(0)], /^seq: 0 stands where 1 should/],
    ["an id twice", [thread, message(0, "a"), message(1, "a")], /^messageId: another/],
    ["a thread twice", [thread, thread], /a line of thread "t" before it/],
    [
      "a message of an earlier thread",
      [thread, { ...thread, threadId: "u" }, message(0)],
      /no line of thread "t"/,
    ],
    ["a summary of nothing", [thread, message(0), summary(1, null)], /^endSeq: there is no message 1/],
    [
      "a summary that is its own base",
      [thread, message(0), summary(0, 0)],
      /^base: there is no such summary/,
    ],
    ["a base that follows", [thread, message(0), message(1), summary(0, 1), summary(1, null)], /^base: /],
    ["a memory twice", [memory(1, null), memory(1, null)], /a line of memory 1 before it/],
    ["a link with itself", [{ type: "relation", from: "a", to: "a" }], /linked with itself/],
    ["a revision twice", [5, 5].map((revision) => ({ type: "change", revision })), /^revision: 5 follows 5/],
    ["two owners", [{ type: "owner" }, { type: "owner" }], /line of the owner before/],
  ])("refuses %s", (_, lines, problem) => {
    expect(problemsOf(lines)).toEqual([expect.stringMatching(problem)]);
  });

  it("takes what an export writes", () => {
    const said = [thread, message(0), message(1), summary(0, null), summary(1, 0)];
    expect(problemsOf([...said, memory(1, 2), memory(2, null), { type: "end", lines: 7 }])).toEqual([]);
  });
});

describe("times of an export", () => {
  it("are read as JavaScript reads them", () => {
    const years = { min: new Date("0001-01-02"), max: new Date("9999-12-30"), noInvalidDate: true };
    fc.assert(
      fc.property(fc.date(years), (date) => {
        const text = date.toISOString();
        expect(isoTimeMs(text)).toBe(Math.floor(date.getTime() / 1_000) * 1_000);
        expect(isoTimeMs(text.replace("Z", "+05:30"))).toBe((isoTimeMs(text) ?? 0) - 19_800_000);
      }),
    );
    expect(isoTimeMs("1800-01-01T00:53:28.123456+00:53:28")).toBe(Date.parse("1800-01-01T00:00:00Z"));
  });

  it.each([
    ...["2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z"],
    ...["0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "2026-01-01T00:00:00"],
    ...[
      "9999-12-31T23:00:00-02:00",
      "2026-01-01",
      "infinity",
      "",
      "2026-01-01T00:00:00.1234567Z",
      "-0001-01-01T00:00:00Z",
    ],
  ])("are not %j", (text) => {
    expect(isoTimeMs(text)).toBeNull();
  });
});

it("depth is that of brackets outside of strings", () => {
  const json = fc.jsonValue({ maxDepth: 6 });
  const depth = (value: unknown): number =>
    typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
  fc.assert(
    fc.property(json, fc.nat({ max: 8 }), (value, most) => {
      expect(isDeeper(JSON.stringify(value), most)).toBe(depth(value) > most);
    }),
  );
  expect(isDeeper("[".repeat(1_000_000), 100)).toBe(true);
  expect(isDeeper(JSON.stringify('[\\"{'.repeat(100)), 0)).toBe(false);
});
