import fc from "fast-check";
import { expect, it } from "vitest";
import { independentSignals } from "../../src/memories/guard/consent-request.rule.js";
import { forAll } from "../support/for-all.js";

it("Signals of one message, or of one turn without a message, count once", () => {
  const message = (seq: number, turn = 1, threadId = "t") => ({ turn, threadId, seq });
  expect(
    independentSignals([message(1), message(1, 2), message(2), message(1, 1, "u")]),
  ).toHaveLength(3);
  expect(independentSignals([message(1), { turn: 1 }, { turn: 2 }, { turn: 2 }])).toHaveLength(2);
  const signal = fc.record({
    turn: fc.nat(3),
    threadId: fc.constantFrom("t", "u"),
    seq: fc.nat(3),
  });
  forAll(fc.array(signal), (signals) => {
    const kept = independentSignals(signals);
    expect(kept).toHaveLength(
      new Set(signals.map(({ threadId, seq }) => `${threadId} ${seq}`)).size,
    );
    expect(independentSignals([...kept, ...signals])).toEqual(kept);
  });
});
