import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rankTranscript, type TranscriptCandidate } from "../../src/search/search-transcript.js";
import { forAll } from "../support/for-all.js";

const said = (fields: Partial<TranscriptCandidate>): TranscriptCandidate => ({
  threadId: "t",
  seq: 0,
  messageId: "m",
  role: "user",
  actor: "Ana",
  text: "It was a good day.",
  saidAt: new Date("2024-03-01T12:00Z"),
  fit: 0.5,
  ownFit: 0.4,
  ...fields,
});
const question = { spans: [], names: () => false };

describe("rankTranscript", () => {
  it("rankTranscript ranks messages of the named day first, then the nearest", () => {
    const spans = [{ from: new Date("2024-03-03"), before: new Date("2024-03-04") }];
    const days = [10, 4, 3, 1].map((day) =>
      said({ seq: day, saidAt: new Date(Date.UTC(2024, 2, day, 12)) }),
    );
    expect(rankTranscript(days, { ...question, spans }, 0).map(({ seq }) => seq)).toEqual([
      3, 4, 1, 10,
    ]);
  });

  it("rankTranscript keeps messages above the threshold, best first", () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const messages = fc.array(fc.record({ seq: fc.nat(30), fit: share, ownFit: share }).map(said));
    forAll(messages, share, (all, threshold) => {
      const ranked = rankTranscript(all, question, threshold);
      const scores = ranked.map(({ score }) => score);
      expect(scores).toEqual(scores.toSorted((first, second) => second - first));
      expect(ranked.length).toBe(
        rankTranscript(all, question, 0).filter((hit) => hit.similarity >= threshold).length,
      );
    });
  });
});
