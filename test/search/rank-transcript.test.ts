import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answersWhen } from "../../src/search/question-dates.rule.js";
import { type RankedMessage, rankTranscript } from "../../src/search/search-transcript.js";

const said = (fields: Partial<RankedMessage>): RankedMessage => ({
  threadId: "t",
  seq: 0,
  actor: "Ana",
  text: "It was a good day.",
  saidAt: new Date("2024-03-01T12:00Z"),
  fit: 0.5,
  own: 0.4,
  score: 0.5,
  ...fields,
});
const question = { dates: [], names: () => false, when: () => false };
const seqs = (messages: readonly { readonly seq: number }[]) => messages.map(({ seq }) => seq);

const share = fc.double({ min: 0, max: 1, noNaN: true });
const messages = fc.uniqueArray(
  fc.record({
    threadId: fc.constantFrom("t", "u"),
    seq: fc.nat(30),
    actor: fc.constantFrom("Ana", "Ben", null),
    text: fc.constantFrom("Yes.", "What was it?", "It was a very good day, and we went to the sea."),
    saidAt: fc.date({ min: new Date("2023-01-01"), max: new Date("2024-12-31"), noInvalidDate: true }),
    fit: share,
    own: share,
    score: share,
  }),
  { maxLength: 15, selector: ({ threadId, seq }) => `${threadId}/${seq}` },
);

describe("rankTranscript", () => {
  it("puts what says a time first among equals, when one is asked for", () => {
    const candidates = [said({ seq: 1 }), said({ seq: 2, text: "It was in May 2019" })];
    const ask = (text: string) =>
      seqs(rankTranscript(candidates, { ...question, when: answersWhen(text) }, 0));

    expect(ask("When was it?")).toEqual([2, 1]);
    expect(ask("What was it like when you came?")).toEqual([1, 2]);
  });

  it("puts who is asked about first among equals", () => {
    const named = { ...question, names: (actor: string) => actor === "Ben" };
    const ranked = rankTranscript(
      [said({ seq: 1 }), said({ seq: 2, actor: "Ben" }), said({ seq: 3, actor: null })],
      named,
      0,
    );
    expect(ranked.map(({ actor, named }) => [actor, named])).toEqual([
      ["Ben", true],
      ["Ana", false],
      [null, false],
    ]);
  });

  it("puts what was said at a named date first among equals", () => {
    const dated = { ...question, dates: [{ year: 2023, month: 5, day: null }] };
    const may = said({ seq: 9, saidAt: new Date("2023-05-20T12:00Z") });
    expect(seqs(rankTranscript([said({ seq: 1 }), may], dated, 0))).toEqual([9, 1]);
  });

  it("puts an answer before its question, and before what follows no question", () => {
    const asks = said({ seq: 1, text: "Where did you learn to paint?" });
    const answer = said({ seq: 2, text: "At the evening school." });
    const other = said({ seq: 7, text: "In the old gallery now." });
    expect(seqs(rankTranscript([asks, other, answer], question, 0))).toEqual([2, 7, 1]);
    expect(seqs(rankTranscript([asks, other, { ...answer, threadId: "another" }], question, 0))).toEqual([
      7, 2, 1,
    ]);
  });

  it("puts what says something before what says next to nothing", () => {
    const long = said({
      seq: 5,
      text: "We painted the whole house in one weekend, with blue on every wall of it.",
    });
    expect(seqs(rankTranscript([said({ seq: 1, text: "Wow!" }), long], question, 0))).toEqual([5, 1]);
  });

  it("has the similarity of a text with every word once as 1", () => {
    const [hit] = rankTranscript([said({ fit: 1 / 1.6 })], question, 0);
    expect(hit?.similarity).toBeCloseTo(1);
  });

  it("neither adds, drops nor changes messages but by the threshold, whatever their order", () => {
    fc.assert(
      fc.property(messages, share, (candidates, threshold) => {
        const all = rankTranscript(candidates, question, 0);
        expect(new Set(all.map(({ threadId, seq }) => `${threadId}/${seq}`)).size).toBe(candidates.length);
        const scores = all.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((first, second) => second - first));
        const backwards = rankTranscript(candidates.toReversed(), question, 0).map(({ score }) => score);
        expect(backwards).toEqual(scores);
        const some = rankTranscript(candidates, question, threshold);
        expect(some).toEqual(all.filter(({ similarity }) => similarity >= threshold));
      }),
    );
  });
});
