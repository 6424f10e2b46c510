import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryItem, MemoryKind } from "../../src/memories/item/memory.js";
import { fitBudget } from "../../src/prompt/fit-budget.js";
import { blockTokens, memoryBlock } from "../../src/prompt/memory-block.js";
import type { Recalled } from "../../src/prompt/recalled.js";
import { noParts } from "../../src/search/rank-memories.rule.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import { memoryItem } from "../support/memory-item.js";

const at = new Date("2030-01-02T03:04:05Z");
const words = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ maxLength: 30, unit: "binary" }),
  fc
    .tuple(
      fc.constantFrom("a", "word ", "<memory>", "é", "语", "\n", "😀", "== ", "x7-"),
      fc.integer({ min: 1, max: 700 }),
    )
    .map(([part, times]) => part.repeat(times)),
);

let nextId = 0;
const memory = (kind: MemoryKind) =>
  fc
    .record({
      text: words,
      key: fc.option(words),
      value: fc.option(words),
      category: words,
      tags: fc.array(words, { maxLength: 3 }),
      turns: fc.option(fc.record({ start: fc.nat(), end: fc.nat() })),
      quote: fc.option(words),
    })
    .map(
      ({ quote, ...fields }): MemoryItem => ({
        ...memoryItem(at, { id: `id-${nextId++}`, kind, scope: { appId: "a".repeat(90) } }),
        ...fields,
        source: quote === null ? null : { threadId: "t", seqs: [1], quote },
      }),
    );
const hit = (kind: MemoryKind) =>
  memory(kind).map((found) => ({
    memory: found,
    similarity: 0.5,
    score: 0.5,
    reason: "same words",
    parts: noParts,
  }));
const many = <Value>(value: fc.Arbitrary<Value>, most: number) =>
  fc.array(value, { maxLength: most });
const line = fc.string({ maxLength: 160 });

const recalled: fc.Arbitrary<Recalled> = fc
  .record({
    memories: fc.record({
      profile: many(memory("fact"), 12),
      relevant: many(hit("fact"), 8),
      episodes: many(hit("episode"), 3),
      notes: many(memory("note"), 10),
      related: many(memory("fact"), 2),
      rest: many(memory("fact"), 20),
      omitted: fc.nat({ max: 300 }),
      omittedAtLeast: fc.boolean(),
    }),
    top: many(
      fc.record({
        rev: fc.nat(),
        memoryId: fc.uuid(),
        insteadId: fc.constant(null),
        isDoubted: fc.constant(false),
        event: fc.constantFrom("created" as const, "merged" as const),
        line,
      }),
      3,
    ),
    // The same words may be known of a user and of the user in an app.
    again: fc.boolean(),
    summary: fc.option(
      fc.constant({
        id: 1,
        startSeq: 0,
        endSeq: 1,
        endMessageId: "1",
        startTurn: 1,
        endTurn: 4,
        text: "They met.",
      }),
    ),
    omitted: fc.option(fc.constant({ messages: 12 } as NonNullable<Recalled["omitted"]>)),
    consents: many(
      fc.record({
        id: fc.uuid(),
        category: line,
        key: fc.option(line),
        value: fc.option(line),
        text: line,
        current: fc.option(line),
        currentId: fc.constant(null),
      }),
      3,
    ),
  })
  .map(({ memories, top, consents, again, summary, omitted }) => ({
    mode: "active",
    epoch: {
      isNew: true,
      firstSeq: 0,
      earlier: [],
      told: [],
      asked: [],
      added: { profile: [], notes: [], omitted: 0 },
      readable: [],
      prefixes: new Set<string>(),
    },
    day: "2026-11-28",
    days: [],
    timeZone: "UTC",
    memories: again
      ? { ...memories, rest: [...memories.profile, ...memories.rest, ...memories.rest] }
      : memories,
    consents,
    summary,
    processing: null,
    gap: [],
    unread: [],
    lastTurn: [],
    omitted,
    recent: [],
    shortened: [],
    lastSeq: 1,
    lastMessageId: "1",
    changes: { since: 1, revision: 9, count: top.length, top },
  }));

const tokensOf = (found: Recalled) =>
  estimateTokens(memoryBlock({ ...found, summary: null, omitted: null }) ?? "");
const shown = ({ memories: { profile, relevant, episodes, notes, related, rest } }: Recalled) => [
  ...[...profile, ...notes, ...related, ...rest].map(({ id }) => id),
  ...[...relevant, ...episodes].map(({ memory: { id } }) => id),
];

describe("fitBudget", () => {
  it("fitBudget prints no more than the budget", () =>
    fc.assert(
      fc.property(recalled, fc.integer({ min: 50, max: 3_000 }), (found, budget) => {
        expect(tokensOf(fitBudget(found, budget))).toBeLessThanOrEqual(budget);
      }),
      { numRuns: 500 },
    ));

  it("blockTokens counts the tokens of the printed block", () =>
    fc.assert(
      fc.property(recalled, (found) => {
        expect(Math.ceil(blockTokens(found) - 1e-6)).toBe(tokensOf(found));
      }),
    ));

  it("fitBudget returns a block that fits unchanged, and never adds to one", () =>
    fc.assert(
      fc.property(recalled, fc.integer({ min: 50, max: 3_000 }), (found, budget) => {
        const kept = fitBudget(found, budget);
        if (tokensOf(found) <= budget) expect(kept).toBe(found);
        else expect(shown(found)).toEqual(expect.arrayContaining(shown(kept)));
      }),
    ));

  it("fitBudget leaves no heading without a line, no repeated line, and no mention of a missing part", () =>
    fc.assert(
      fc.property(recalled, fc.integer({ min: 50, max: 3_000 }), (found, budget) => {
        for (const each of [found, fitBudget(found, budget)]) {
          const lines = (memoryBlock(each) ?? "").split("\n");
          const isHeading = (one = "") => one.startsWith("#");
          expect(
            lines.filter((one, at) => isHeading(one) && isHeading(lines[at + 1] || "#")),
          ).toEqual([]);
          const listed = lines
            .filter((one) => /^(- |\d+\. )/.test(one))
            .slice(each.changes.top.length);
          expect(new Set(listed).size).toBe(listed.length);
          const hasMemory = memoryBlock({ ...each, summary: null, omitted: null }) !== null;
          const above = [hasMemory ? "memory" : [], each.summary ? "conversation" : []]
            .flat()
            .join(" and ");
          const requests = lines.filter((one) => /^(?!-).* above\.$/.test(one));
          expect(requests.join("\n")).toBe(
            above && `Answer consistently using the ${above} above.`,
          );
          expect(lines[1] === "# Long-term Memory").toBe(hasMemory);
        }
      }),
    ));

  it("fitBudget fills the budget: omitted memories would not fit", () =>
    fc.assert(
      fc.property(recalled, fc.integer({ min: 200, max: 1_000 }), (found, budget) => {
        const kept = fitBudget(found, budget);
        const ids = new Set(shown(kept));
        for (const item of found.memories.profile.filter(({ id }) => !ids.has(id))) {
          const more = {
            ...kept,
            memories: { ...kept.memories, profile: [...kept.memories.profile, item] },
          };
          expect(tokensOf(more)).toBeGreaterThan(budget - 2 * ids.size - 2);
        }
      }),
    ));
});
