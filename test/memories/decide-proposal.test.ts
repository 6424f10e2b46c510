import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textWithValue } from "../../src/consents/decide-consent.js";
import {
  type ConsentSignal,
  independentSignals,
} from "../../src/memories/guard/consent-request.rule.js";
import type {
  EarlierRequest,
  ProposedChange,
} from "../../src/memories/guard/decide-proposal.rule.js";
import { decideProposal } from "../../src/memories/guard/decide-proposal.rule.js";
import { contentHash } from "../../src/text/normal-value.js";
import { forAll } from "../support/for-all.js";

const change = (fields: Partial<ProposedChange> = {}): ProposedChange => ({
  rule: "consent",
  kind: "fact",
  key: "city",
  normalValue: "porto",
  contentHash: "h",
  confidence: 1,
  text: "The user lives in Porto.",
  validFrom: null,
  signals: [{ turn: 5 }],
  ...fields,
});
const standing = (fields: Partial<EarlierRequest> = {}): EarlierRequest => ({
  id: "known",
  status: "pending",
  expired: false,
  normalValue: "porto",
  contentHash: "g",
  text: "The user is at home in Porto.",
  validFrom: null,
  signals: [{ turn: 1 }],
  ...fields,
});
const decide = (wanted: ProposedChange, ...others: EarlierRequest[]) =>
  decideProposal(wanted, others);

describe("proposed changes", () => {
  it("A change that needs consent is never applied by signals, however many and however sure", () => {
    const signal = fc.record({ turn: fc.nat(9) }) as fc.Arbitrary<ConsentSignal>;
    const signals = fc.array(signal, { minLength: 1, maxLength: 6 });
    forAll(
      signals,
      signals,
      fc.constantFrom("fact" as const, "insight" as const),
      (said, before, kind) => {
        const wanted = change({ kind, signals: said, confidence: 1 });
        expect(decide(wanted, standing({ signals: before })).action).toBe("repeat");
        expect(decide(wanted).action).toBe("ask");
      },
    );
  });

  it("A proposal without a key matches only an equal text", () => {
    const said = (text: string) =>
      change({ rule: "signals", key: null, text, contentHash: contentHash(text) });
    const text = "The user's goal is to ship version 2 by June.";
    const known = standing({ text, contentHash: contentHash(text) });
    const about = (text: string) => decide(said(text), known).action;
    expect(about("the user’s goal is to ship version 2  by June")).toBe("apply");
    expect(about("The user's goal is to ship the version 2 by June.")).toBe("ask");
    expect(about("The user's goal is not to ship version 2 by June.")).toBe("ask");
  });
});

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

it("A corrected value replaces the old one in the text, or is named with its key", () => {
  const correct = (text: string, was: string | null) =>
    textWithValue(text, { was, value: "Faro", key: "home_city" });
  expect(correct("The user lives in Porto.", "Porto")).toBe("The user lives in Faro.");
  expect(correct("The user moved.", "Porto")).toBe("The user's home city: Faro.");
  expect(correct("The user moved.", null)).toBe("The user's home city: Faro.");
});
