import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { searchText } from "../../src/text/search-text.js";
import { forAll } from "../support/for-all.js";

const words = (text: string) => text.split(/\s+/).filter(Boolean);

describe("searchText", () => {
  it.each<[string, string, string]>([
    ["drops accents of Latin letters", "Café Zürich, naïve señor", "cafe zurich, naive senor"],
    ["drops accents however they are composed", "Cafe\u0301", "cafe"],
    ["reduces ligatures and full-width letters", "ﬁne ＡＢＣ", "fine abc"],
    ["keeps other scripts' marks", "й їжак हिन्दी", "й їжак हिन्दी"],
    ["splits Chinese into pairs and ideographs", "我喜欢茶", "我喜 喜欢 欢茶 我 喜 欢 茶"],
    ["splits Japanese across a change of script", "猫がコーヒー", "猫が がコ コー ーヒ ヒー 猫"],
    ["splits Korean, whose particles hang on", "커피를", "커피 피를"],
    ["leaves a single character", "茶 tea", "茶 tea"],
    ["joins what is also written as one", "Wi-Fi, an e-mail", "wi-fi wifi, an e-mail email"],
    ["joins handles and constants", "@ana_m set MAX_ROWS", "@ana_m anam0 set max_rows maxrows0"],
    ["joins letters and numbers", "flight LH 1234", "flight lh 1234 lh1234"],
    ["has a version without its v too", "since v2.3.1", "since v2.3.1 2.3.1"],
    ["leaves longer compounds", "state-of-the-art mother-in-law", "state-of-the-art mother-in-law"],
    ["is empty for an empty text", "", ""],
  ])("The search text %s", (_, text, expected) =>
    expect(words(searchText(text))).toEqual(words(expected)),
  );

  it("searchText returns no NUL, and never much more than its bound", () => {
    expect(searchText("a\u0000b")).toBe("a b");
    expect(searchText("word ".repeat(100_000)).length).toBe(100_000);
    // Pairs and ideographs, with spaces around.
    expect(searchText("茶".repeat(300_000)).length).toBeLessThan(6 * 100_000);
  });

  it("searchText stays within the index's limits of words and bytes", () => {
    const part = fc.constantFrom(
      "ab",
      "語",
      "ﷺ",
      "q1-",
      "é",
      ".",
      " ",
      "\u0301\u0316",
      "x/y",
      "😀",
      "ำ",
    );
    const repeated = fc.tuple(
      fc.array(part, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 20_000 }),
    );
    const numbered = fc
      .integer({ min: 1, max: 20_000 })
      .map((count) => [...Array(count).keys()].join(" word"));
    const long = fc.oneof(
      repeated.map(([parts, times]) => parts.join("").repeat(times)),
      numbered,
    );
    fc.assert(
      fc.property(long, (text) => {
        const prepared = searchText(text);
        expect(Buffer.byteLength(prepared)).toBeLessThan(600_000);
        const found = prepared.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
        expect(new Set(found).size).toBeLessThanOrEqual(4_000);
        expect(
          found.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0),
        ).toBeLessThanOrEqual(250_000);
        for (const word of words(prepared)) expect(Buffer.byteLength(word)).toBeLessThan(2_047);
      }),
      { numRuns: 15 },
    );
  });

  it("searchText truncates a word that is too long", () => {
    const word = "0123456789abcdef".repeat(30);
    expect(searchText(word)).toBe(searchText(`${word}0`));
    expect(searchText(word)).toHaveLength(128);
  });

  it("searchText ignores case and accents", () =>
    forAll(fc.stringMatching(/^[a-z ]{0,40}$/), (text) => {
      const plain = searchText(text);
      expect(searchText(text.toUpperCase())).toBe(plain);
      expect(searchText(text.replaceAll(/[a-z]/g, "$&\u0301"))).toBe(plain);
    }));

  it("searchText of a text of ideographs includes the terms of any part", () => {
    const ideographs = fc.array(fc.constantFrom(..."我喜欢茶咖啡东京大阪猫"), {
      minLength: 1,
      maxLength: 12,
    });
    forAll(ideographs, fc.nat(), fc.nat(), (characters, from, length) => {
      const start = from % characters.length;
      const part = characters.slice(start, start + 1 + (length % characters.length)).join("");
      const all = new Set(words(searchText(characters.join(""))));
      for (const word of words(searchText(part))) expect(all).toContain(word);
    });
  });

  it("searchText accepts any string", () =>
    forAll(fc.string({ unit: "binary" }), (text) => {
      expect(searchText(text)).not.toContain("\u0000");
    }));
});
