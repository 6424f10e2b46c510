import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writingProblems } from "../../../src/memories/write/writing-constraints.rule.js";
import {
  chooseInsights,
  type InsightCandidate,
  type InsightSource,
} from "../../../src/reflection/insights/choose-insights.rule.js";
import { isStorable } from "../../../src/text/storable-text.js";

const sources: InsightSource[] = [
  "The user drinks tea.",
  "They spoke of a trip.",
  "The user runs.",
].map((text, index) => ({
  id: `m${index + 1}`,
  kind: index === 1 ? "episode" : "fact",
  category: "knowledge",
  text,
  saidAt: new Date(0),
  timeZone: "UTC",
  threadId: null,
}));
const insight = (summary: string, fields: Partial<InsightCandidate> = {}): InsightCandidate => ({
  summary,
  tags: ["trust"],
  importance: 2,
  confidence: 0.6,
  category: "",
  evidence: [1],
  ...fields,
});
const choose = (...candidates: InsightCandidate[]) =>
  chooseInsights(candidates, { sources, most: 3, categories: ["tone"] });

describe("an insight that a model proposes", () => {
  it.each([
    ["  ", "empty"],
    [`The user ${"really ".repeat(60)}hopes.`, "too_long"],
    ["The user drinks tea.", "known"],
  ])("An insight that reads %j is rejected as %s", (summary, problem) => {
    expect(choose(insight(summary))).toEqual({ chosen: [], rejected: [problem] });
  });

  it.each([
    "The user has Type I diabetes at heart of most plans.",
    "The user tells the assistant of trips to the US.",
    "The user's tone softens when a mistake is admitted.",
    "用户对自我要求很高。",
  ])("An insight that reads %j is kept", (summary) => {
    expect(choose(insight(summary)).chosen.map(({ text }) => text)).toEqual([summary]);
  });

  it("An insight that is too long is cut after a sentence that fits", () => {
    const { chosen } = choose(insight(`The user is calm. The user ${"really ".repeat(60)}hopes.`));
    expect(chosen).toMatchObject([{ text: "The user is calm.", trimmed: true }]);
  });

  it("An insight is kept once, and as many as the limit allows", () => {
    const { chosen, rejected } = choose(
      ...["A", "A", "B", "C", "D"].map((name) => insight(`The user trusts ${name}.`)),
    );
    expect(chosen.map(({ text }) => text.at(-2))).toEqual(["A", "B", "C"]);
    expect(rejected).toEqual(["duplicate", "run_cap"]);
  });

  it("Any proposal yields only insights that are valid to write and name shown evidence", () => {
    const text = fc.oneof(
      fc.constantFrom(
        "The user is calm.",
        "The user\u0000 is\ud800 calm.",
        "I like you.",
        "<b>",
        "a. b. c.",
      ),
      fc.string({ unit: "binary", maxLength: 400 }),
      fc
        .array(fc.constantFrom("The user", "trusts", "me", "it.", "Always"), { maxLength: 60 })
        .map((w) => w.join(" ")),
    );
    const number = fc.oneof(fc.integer({ min: -1, max: 5 }), fc.double());
    const candidate = fc.record({
      summary: text,
      tags: fc.array(text, { maxLength: 40 }),
      importance: number,
      confidence: number,
      category: fc.constantFrom("", "tone", "constraints"),
      evidence: fc.array(number, { maxLength: 5 }),
    });
    fc.assert(
      fc.property(
        fc.array(candidate, { maxLength: 6 }),
        fc.integer({ min: 1, max: 3 }),
        (candidates, most) => {
          const { chosen, rejected } = chooseInsights(candidates, {
            sources,
            most,
            categories: ["tone"],
          });
          expect(chosen.length + rejected.length).toBe(candidates.length);
          expect(chosen.length).toBeLessThanOrEqual(most);
          for (const { text, tags, importance, confidence, category, evidence } of chosen) {
            expect([null, "tone"]).toContain(category);
            expect(confidence >= 0 && confidence <= 1).toBe(true);
            expect(writingProblems("insight", text)).toEqual([]);
            expect(text.length).toBeLessThanOrEqual(280);
            expect([text, ...tags].every(isStorable)).toBe(true);
            expect(tags.length <= 5 && tags.every((tag) => tag.length <= 40)).toBe(true);
            expect(importance >= 1 && importance <= 5).toBe(true);
            expect(evidence.length).toBeGreaterThan(0);
            for (const source of evidence) expect(sources).toContain(source);
          }
        },
      ),
    );
  });
});
