import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { searchText } from "../../src/text/search-text.js";
import { forAll } from "../support/for-all.js";

const withoutAccented = (terms: string) =>
  terms
    .split("\x1E")
    .filter((piece) => !piece.startsWith("accented"))
    .join("\x1E");
const words = (text: string) =>
  withoutAccented(text)
    .split(/[\s\p{Cc}]+/u)
    .filter(Boolean);

describe("searchText", () => {
  it.each<[string, string, string]>([
    ["drops accents of Latin letters", "Café Zürich, naïve señor", "cafe zurich, naive senor"],
    ["drops accents however they are composed", "Cafe\u0301", "cafe"],
    ["reduces ligatures and full-width letters", "ﬁne ＡＢＣ", "fine abc"],
    ["keeps other scripts' marks", "й їжак हिन्दी", "russian й їжак hindi हिन्दी"],
    ["splits Chinese into pairs and ideographs", "我喜欢茶", "我喜 喜欢 欢茶 我 喜 欢 茶"],
    ["splits Japanese across a change of script", "猫がコーヒー", "猫が がコ コー ーヒ ヒー 猫"],
    ["splits Korean, whose particles hang on", "커피를", "커피 피를"],
    ["splits Thai into words", "แมวชื่อมะลิ", "แมว ชื่อ มะลิ"],
    ["drops marks that texts leave out", "שָׂרָה за́мок", "שרה russian замок"],
    ["leaves a single character", "茶 tea", "茶 tea"],
    ["joins what is also written as one", "Wi-Fi, an e-mail", "wi-fi wifi, an e-mail email"],
    ["joins handles and constants", "@ana_m set MAX_ROWS", "@ana_m anam0 set max_rows maxrows0"],
    ["joins letters and numbers", "flight LH 1234", "flight lh 1234 lh1234"],
    ["has a version without its v too", "since v2.3.1", "since v2.3.1 2.3.1"],
    ["joins grouped figures", "1,250 or 1'250,000.", "1,250 1250 or 1'250,000 1250000."],
    ["joins telephone numbers", "+351 912 345 678", "+351 912 345 678 351912345678"],
    ["leaves a list of figures", "1,25 and 3.14, 12 30", "1,25 and 3.14, 12 30"],
    ["leaves longer compounds", "state-of-the-art mother-in-law", "state-of-the-art mother-in-law"],
    ["tells signs of names apart", "C++ or C#, 1 + 2", "c++ cplusplus0 or c# csharp0, 1 + 2"],
    ["spells Latin letters out", "Œuvre Søren Łódź Straße Đà", "oeuvre soren lodz strasse da"],
    ["has a number behind a hyphen", "BENCH-100821", "bench-100821 part 100821"],
    ["has parts of a path", "src/main.py", "src/main.py part src main main.py"],
    [
      "has the domain",
      "ana@docs.example.org",
      "ana@docs.example.org part ana docs example org docs.example.org example.org",
    ],
    ["keeps figures whole", "10.20.30.41 at 12:30, 3.1415", "10.20.30.41 at 12:30, 3.1415"],
    ["names a script's language", "the квартира кто-то", "the russian квартира кто-то"],
    ["leaves words of two scripts", "А123ВС", "а123вс"],
    ["is empty for an empty text", "", ""],
  ])("The search text %s", (_, text, expected) =>
    expect(words(searchText(text))).toEqual(words(expected)),
  );

  it("searchText names each short word with an accent once, as spelled and plain", () =>
    expect(searchText("Für uns, FÜR Bücher und überallhinaus")).toBe(
      "\x1Ffur uns, fur bucher und uberallhinaus\x1Eaccented\x1Ffür bücher\x1Ffur bucher\x1E",
    ));

  it("searchText returns no NUL, and never much more than its bound", () => {
    expect(searchText("a\u0000b\x1Ec\x1Fd")).toBe("\x1Fa b c d\x1E");
    expect(words(searchText(`${"word ".repeat(199_999)}last more`)).at(-1)).toBe("last");
    // Pairs and ideographs, with spaces around.
    expect(searchText("茶".repeat(1_200_000)).length).toBeLessThan(6 * 1_000_000);
  });

  it("Each piece of a searchText stays within the limits of a tsvector", () => {
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
        const pieces = searchText(text).split("\x1E");
        // At most four times as much with parts of compounds.
        for (const piece of pieces)
          expect(Buffer.byteLength([...new Set(words(piece))].join(" "))).toBeLessThan(250_000);
        for (const word of words(pieces.join(" ")))
          expect(Buffer.byteLength(word)).toBeLessThan(2_047);
      }),
      { numRuns: 15 },
    );
  });

  it("searchText truncates a word that is too long", () => {
    const word = "0123456789abcdef".repeat(30);
    expect(searchText(word)).toBe(searchText(`${word}0`));
    expect(words(searchText(word))).toEqual([word.slice(0, 128)]);
  });

  it("searchText ignores case and accents", () =>
    forAll(fc.stringMatching(/^[a-z ]{0,40}$/), (text) => {
      const plain = searchText(text);
      expect(searchText(text.toUpperCase())).toBe(plain);
      expect(withoutAccented(searchText(text.replaceAll(/[a-z]/g, "$&\u0301")))).toBe(plain);
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
