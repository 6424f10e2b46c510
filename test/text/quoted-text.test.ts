import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ownWords, quotedIn } from "../../src/text/quoted-text.js";
import { forAll } from "../support/for-all.js";

const said = "forget my allergy";
const isQuoted = (text: string, words = said) => {
  const start = text.indexOf(words);
  return quotedIn(text)(start, start + words.length);
};
/** In any script: words that no mark of its own stands in. */
const words = fc.stringMatching(/^[\p{L}]{1,9}( [\p{L}\p{N}]{1,9}){0,3}$/u);
const apostrophes = fc.constantFrom(
  "it's ",
  "l’été ",
  "the users' ",
  "rock'n'roll ",
  "O’Brien ",
  'a 5" pipe ',
  "",
);

const inner = fc.constantFrom("it's ", "l’été ", "rock'n'roll ", "O’Brien ", "");

describe("quoted text", () => {
  it.each([
    ...['"', "“", "„", "«", "»", "‹", "”", "「", "『", "＂", "'", "‘", "`"].map((mark) => {
      const closing = {
        "“": "”",
        "„": "“",
        "«": "»",
        "»": "«",
        "‹": "›",
        "「": "」",
        "『": "』",
        "‘": "’",
      }[mark];
      return [mark, closing ?? mark] as const;
    }),
    ...([
      ["« ", " »"],
      ["```\n", "\n```"],
      ["~~~~ js\n", "\n~~~~"],
      ["> ", "\n"],
      ["\n  > ", ""],
    ] as const),
    ...([
      ["---\n", "\n---"],
      ["***\nDear Ana\n---\n", "\n***\n---"],
      ['"He said ', ' and left"'],
    ] as const),
    ...([
      ["“She heard ‘", "’ today”"],
      ["他说“", "”。"],
      ['그는"', '"라고'],
      ['"Dear Ana,\n\n', '"'],
    ] as const),
  ])("Quoted text is what is between %j and %j, and nothing around it", (from, to) => {
    forAll(words, words, words, apostrophes, (before, within, after, apostrophe) => {
      const start = `${apostrophe}${before}:\n`;
      const text = `${start}${from}${within}${to}\n${after}`;
      const isIn = quotedIn(text);
      expect(isIn(start.length + from.length, start.length + from.length + within.length)).toBe(
        true,
      );
      expect(isIn(0, start.length)).toBe(false);
      expect(isIn(text.length - after.length, text.length)).toBe(false);
      const own = ownWords(text);
      expect(own).toHaveLength(text.length);
      expect([own.slice(0, start.length), own.slice(text.length - after.length)]).toEqual([
        start,
        after,
      ]);
    });
  });

  it("Apostrophes and marks that do not close quote nothing", () => {
    const unclosed = fc.constantFrom(
      "```\n",
      "```js\n",
      "---\n",
      '"',
      "“",
      "« ",
      "「",
      "‘",
      "`",
      "~~~\n",
      "\n",
    );
    forAll(unclosed, fc.array(fc.tuple(inner, words), { maxLength: 4 }), (mark, around) => {
      const text = around.flat().join(" ");
      expect(isQuoted(`${mark}${said}, ${text}`)).toBe(false);
      expect(isQuoted(`${text}\n${said}. ${mark}`)).toBe(false);
    });
  });

  it.each([
    ['Forget "my allergy"', "Forget my allergy", false],
    ['I said "yes", forget my allergy. "Now".', said, false],
    ["```\ncode\n```\nforget my allergy\n```\nmore\n```", said, false],
    ['"forget my allergy" and "more"', said, true],
    ["Fix:\n> forget\n> my allergy", "forget\n> my allergy", true],
    ["Fix\n> forget my allergy", "Fix\n> forget my allergy", true],
    ["> Hi\nforget my allergy", said, false],
  ])("In %j the part %j is quoted: %s", (text, part, expected) =>
    expect(isQuoted(text, text.includes(part) ? part : text)).toBe(expected),
  );
});
