import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import { type PieceBounds, textPieces, withinBounds } from "../../src/text/text-pieces.js";
import { forAll } from "../support/for-all.js";

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
  it("textPieces loses nothing, keeps order and budget, splits no surrogate pair and makes no empty piece", () =>
    forAll(items, budget, (input, tokens) => {
      const pieces = textPieces(input, tokens);
      expect(rejoined(pieces)).toEqual(input);
      const isWhole = input.every((item) => !/\p{Surrogate}/u.test(item.text));
      for (const piece of pieces) {
        expect(piece.length).toBeGreaterThan(0);
        expect(piece.reduce((sum, item) => sum + estimateTokens(item.text), 0)).toBeLessThanOrEqual(
          tokens,
        );
        if (isWhole) for (const { text: part } of piece) expect(part).not.toMatch(/\p{Surrogate}/u);
      }
    }));

  it("textPieces makes one piece of a text that fits, and none of nothing", () => {
    const small = [{ text: "hello" }, { text: "" }, { text: "there" }];
    expect(textPieces(small, 100)).toEqual([small]);
    expect(textPieces([], 100)).toEqual([]);
  });
});

describe("the cuts of a text", () => {
  const cutsOf = (said: string, tokens: number) => {
    const parts = textPieces([{ text: said }], tokens).flat();
    expect(parts.map(({ text: part }) => part).join("")).toBe(said);
    let at = 0;
    const cuts = parts.slice(0, -1).map(({ text: part }) => (at += part.length));
    return { parts: parts.map(({ text: part }) => part), cuts };
  };
  const wordsOf = (said: string) => said.split(/\s+/).filter(Boolean);
  const words = "a the INV-2024-00731 ana@example.org https://example.org/a?b=c&d=e#f größer".split(
    " ",
  );
  const word = fc.oneof(
    fc.constantFrom(...words, "x".repeat(150)),
    fc.stringMatching(/^[A-Za-z0-9+/=_.:;,(){}-]{1,120}$/),
  );

  it("No cut splits a word that fits a piece", () => {
    const between = fc.constantFrom(" ", "\n", "  ", "\t", "\n\n", "\u00A0");
    const pairs = fc.array(fc.tuple(word, between), { minLength: 30, maxLength: 200, size: "max" });
    forAll(pairs, fc.integer({ min: 60, max: 250 }), (said, tokens) => {
      const { parts } = cutsOf(said.flat().join(""), tokens);
      const fitting = said
        .map(([each]) => each)
        .filter((each) => estimateTokens(each) < tokens - 15);
      const whole = new Set(parts.flatMap(wordsOf));
      for (const each of fitting) expect(whole).toContain(each);
    });
  });

  it("No cut splits a code or a word in scripts without spaces", () => {
    const codes = Array.from(
      { length: 100 },
      (_, index) => `INV-2024-${String(index).padStart(5, "0")}`,
    );
    const said = codes.map((code) => `订单${code}已发货，預計明日抵達東京コーヒー店。`).join("");
    for (let tokens = 60; tokens < 120; tokens++) {
      const { parts } = cutsOf(said, tokens);
      for (const code of [...codes, "コーヒー"]) expect(parts.join("|")).toContain(code);
      expect(parts.join("|")).not.toMatch(/コ\|ー|東\|京|ー\|ヒ/);
    }
  });

  it("No cut splits a grapheme", () => {
    const graphemes = "👩‍👩‍👧‍👦 🇵🇹 🇩🇪 👍🏽 e\u0301 각 ক্ষ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 \r\n 1️⃣ 日 a".split(" ");
    const grapheme = fc.constantFrom(...graphemes, "각".normalize("NFD"));
    const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });
    forAll(
      fc.array(grapheme, { minLength: 100, maxLength: 300, size: "max" }),
      fc.integer({ min: 60, max: 90 }),
      (all, tokens) => {
        const said = all.join("");
        const ends = new Set(Array.from(segmenter.segment(said), ({ index }) => index));
        for (const cut of cutsOf(said, tokens).cuts) expect(ends).toContain(cut);
      },
    );
    const flags = "🇵🇹".repeat(500);
    for (const part of cutsOf(`a ${flags}`, 100).parts) expect(part).toMatch(/^(?:a )?(?:🇵🇹)*$/u);
  });

  it("No cut splits a line of code or a value of one-line JSON", () => {
    const lines = Array.from(
      { length: 300 },
      (_, index) => `  const value${index} = compute(${index}, "x");`,
    );
    for (const part of cutsOf(lines.join("\n"), 200).parts.slice(0, -1))
      expect(part.endsWith("\n")).toBe(true);
    const json = JSON.stringify(
      Array.from({ length: 300 }, (_, id) => ({ id: `INV-2024-${id + 10_000}` })),
    );
    const { parts } = cutsOf(json, 200);
    for (let id = 0; id < 300; id++) expect(parts.join("|")).toContain(`INV-2024-${id + 10_000}`);
  });

  it("No cut is made before the piece is full, even in a word longer than a piece", () => {
    const base64 = Buffer.from("mnemograph".repeat(2_000)).toString("base64");
    const { parts } = cutsOf(`before ${base64} after`, 200);
    expect(parts.length).toBeGreaterThan(5);
    for (const part of parts.slice(1, -1)) expect(estimateTokens(part)).toBeGreaterThan(100);
  });
});

const maxPieces = fc.integer({ min: 1, max: 4 });
const bounds = fc.record({ inputBudgetTokens: fc.integer({ min: 200, max: 400 }), maxPieces });
const long = fc
  .tuple(
    fc.constantFrom("word ", "a", "<", " ", "\n", "=", "语", "😀", "Ab3+", "line of words\n", "é"),
    fc.integer({ min: 1, max: 4_000 }),
  )
  .map(([part, times]) => part.repeat(times));
const longItems = fc
  .array(fc.oneof(long, text), { minLength: 1, maxLength: 30 })
  .map((texts) => texts.map((each, seq) => ({ seq, text: each })));
const piecesOf = (input: readonly { text: string }[], { inputBudgetTokens }: PieceBounds) =>
  textPieces(input, inputBudgetTokens).length;

describe("withinBounds", () => {
  it("withinBounds stays within the bound of calls, and changes nothing that fits", () =>
    forAll(longItems, bounds, (input, bound) => {
      const { items: limited, isCut, taken } = withinBounds(input, bound);
      expect(piecesOf(limited, bound)).toBeLessThanOrEqual(bound.maxPieces);
      expect([isCut, taken]).toEqual([piecesOf(input, bound) > bound.maxPieces, input.length]);
      if (!isCut) expect(limited).toEqual(input);
      else expect(limited.some(({ text: each }) => / left out …\]/.test(each))).toBe(true);
    }));

  it("withinBounds keeps head and tail of a long message with the number of omitted characters", () => {
    const body = Array.from({ length: 500_000 }, (_, index) => `word${index}`).join(" ");
    const bound = { inputBudgetTokens: 1_000, maxPieces: 4 };
    const { items } = withinBounds([{ text: "hello" }, { text: body }, { text: "bye" }], bound);
    const [short, cut, last] = items;
    expect([short, last]).toEqual([{ text: "hello" }, { text: "bye" }]);
    const [, head = "", count = "", tail = ""] =
      /^([\s\S]*)\n\[… ([\d,]+) characters left out …\]\n([\s\S]*)$/.exec(cut?.text ?? "") ?? [];
    expect(body.startsWith(head)).toBe(true);
    expect(body.endsWith(tail)).toBe(true);
    expect(head.length + tail.length + Number(count.replaceAll(",", ""))).toBe(body.length);
    // Neither end has got little, and no word is cut.
    for (const end of [head, tail]) expect(estimateTokens(end)).toBeGreaterThan(900);
    expect(`${head}|${tail}`).toMatch(/word\d+ \|word\d+/);
  });

  it("withinBounds shortens the longest first", () => {
    const input = [
      { text: "a b ".repeat(20_000) },
      { text: "short ".repeat(50) },
      { text: "c d ".repeat(20_000) },
    ];
    const [one, short, other] = withinBounds(input, {
      inputBudgetTokens: 1_000,
      maxPieces: 4,
    }).items;
    expect(short).toEqual(input[1]);
    const [first, second] = [one, other].map((item) => estimateTokens(item?.text ?? ""));
    expect(Math.abs((first ?? 0) - (second ?? 0))).toBeLessThan(100);
  });

  it("withinBounds keeps the first and the last of very many", () => {
    const many = Array.from({ length: 10_000 }, (_, seq) => ({
      seq,
      text: `message number ${seq} of many`,
    }));
    const { items: limited } = withinBounds(many, { inputBudgetTokens: 1_000, maxPieces: 2 });
    expect(limited[0]).toEqual(many[0]);
    expect(limited.at(-1)).toEqual(many.at(-1));
    expect(limited.some(({ text: each }) => /\[… [\d,]+ messages left out …\]/.test(each))).toBe(
      true,
    );
  });

  it("withinBounds takes whole groups that fit, and cuts only the first", () => {
    const entries = fc.array(fc.tuple(fc.boolean(), fc.oneof(long, text)), {
      minLength: 1,
      maxLength: 20,
    });
    forAll(entries, bounds, (given, bound) => {
      const input = given.map(([begins, each]) => ({ begins, text: each }));
      const { items, taken, isCut } = withinBounds(input, bound, ({ begins }) => begins);
      expect(piecesOf(items, bound)).toBeLessThanOrEqual(bound.maxPieces);
      expect(taken).toBeGreaterThan(0);
      const first = input.slice(0, taken);
      if (!isCut) expect(items).toEqual(first);
      const tooLong = first.some(
        ({ text: each }) => estimateTokens(each) > bound.inputBudgetTokens * bound.maxPieces,
      );
      const groups = first.slice(1).filter(({ begins }) => begins).length;
      if (isCut && groups > 0) expect(tooLong).toBe(true);
      if (taken === input.length) return;
      expect(input[taken]?.begins).toBe(true);
      const next = input.findIndex(({ begins }, index) => index > taken && begins);
      expect(piecesOf(input.slice(0, next < 0 ? input.length : next), bound)).toBeGreaterThan(
        bound.maxPieces,
      );
    });
  });

  it("withinBounds keeps the others beside one that is too long", () => {
    const input = ["one", "word ".repeat(100_000), "two", "three"].map((each) => ({ text: each }));
    const { items, taken } = withinBounds(
      input,
      { inputBudgetTokens: 1_000, maxPieces: 4 },
      () => true,
    );
    expect([taken, items.map(({ text: each }) => each.slice(0, 5))]).toEqual([
      4,
      ["one", "word ", "two", "three"],
    ]);
  });
});
