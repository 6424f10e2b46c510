import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens, textPieces } from "../../src/domain/text-pieces.js";

const text = fc.oneof(
  fc.string({ maxLength: 200, size: "max" }),
  fc.string({ unit: "grapheme", maxLength: 100, size: "max" }),
  fc
    .array(fc.constantFrom("😀", "日", "a", "\u0301", "🏳️‍🌈", " "), { maxLength: 200 })
    .map((parts) => parts.join("")),
);
const items = fc
  .array(text, { maxLength: 20 })
  .map((texts) => texts.map((each, seq) => ({ seq, text: each })));
const budget = fc.integer({ min: 2, max: 80 });

const rejoined = (pieces: { seq: number; text: string }[][]) => {
  const texts = new Map<number, string>();
  for (const item of pieces.flat()) texts.set(item.seq, (texts.get(item.seq) ?? "") + item.text);
  return [...texts].map(([seq, each]) => ({ seq, text: each }));
};

describe("textPieces", () => {
  it("loses nothing and keeps the order", () => {
    fc.assert(
      fc.property(items, budget, (input, tokens) => {
        expect(rejoined(textPieces(input, tokens))).toEqual(input);
      }),
    );
  });

  it("keeps every piece within the budget", () => {
    fc.assert(
      fc.property(items, budget, (input, tokens) => {
        for (const piece of textPieces(input, tokens)) {
          const used = piece.reduce((sum, item) => sum + estimateTokens(item.text), 0);
          expect(used).toBeLessThanOrEqual(tokens);
        }
      }),
    );
  });

  it("splits no surrogate pair", () => {
    fc.assert(
      fc.property(items, budget, (input, tokens) => {
        for (const { text: part } of textPieces(input, tokens).flat()) {
          if (input.every((item) => !/\p{Surrogate}/u.test(item.text)))
            expect(part).not.toMatch(/\p{Surrogate}/u);
        }
      }),
    );
  });

  it("makes one piece of what fits, and none of nothing", () => {
    const small = [{ text: "hello" }, { text: "" }, { text: "there" }];
    expect(textPieces(small, 100)).toEqual([small]);
    expect(textPieces([], 100)).toEqual([]);
  });

  it("cuts an item that alone is too large into several that keep its other fields", () => {
    const pieces = textPieces([{ seq: 7, role: "user", text: "x".repeat(1_000) }], 100);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.flat().every((item) => item.seq === 7 && item.role === "user")).toBe(true);
    expect(
      pieces
        .flat()
        .map((item) => item.text)
        .join(""),
    ).toBe("x".repeat(1_000));
  });

  it("makes no empty piece", () => {
    fc.assert(
      fc.property(items, budget, (input, tokens) => {
        expect(textPieces(input, tokens).every((piece) => piece.length > 0)).toBe(true);
      }),
    );
  });
});

describe("estimateTokens", () => {
  it("counts a quarter of ASCII and all of the rest, and never more than the characters", () => {
    expect(estimateTokens("")).toBe(0);
    expect(estimateTokens("abcd")).toBe(1);
    expect(estimateTokens("abcde")).toBe(2);
    expect(estimateTokens("日本語")).toBe(3);
    fc.assert(
      fc.property(text, (each) => {
        expect(estimateTokens(each)).toBeLessThanOrEqual(each.length);
      }),
    );
  });
});
