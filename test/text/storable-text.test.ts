import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  clipped,
  headAtWord,
  headOf,
  isStorable,
  onOneLine,
  visibleText,
} from "../../src/text/storable-text.js";

describe("visible text", () => {
  it.each([
    ["a\u{E0041}\u{E007F}b", "ab"],
    ["a\u202Eb\u2066c\u200Fd\u061Ce", "abcde"],
    ["a\u200Bb\u2060c\uFEFFd\u00ADe\u3164f", "abcdef"],
    ["a\u200Db\u200Cc", "abc"],
    ["a\uFE0Fb\u{E0101}c", "abc"],
    ["a\u0000b\u0007c\u001Bd", "abcd"],
    ["a\u0085b\u2028c\u2029d\ve\ff\r\ng\rh", "a\nb\nc\nd\ne\nf\ng\nh"],
    ["\uD800a", "\uFFFDa"],
    ["1\uFE0F2", "12"],
  ])("Visible text has no hidden characters: %j", (text, visible) =>
    expect(visibleText(text)).toBe(visible),
  );

  it.each([
    "می‌خواهم بروم",
    "क्‍ष श्‍री",
    "ශ්‍රී ලංකා",
    "👩‍👩‍👧 🏳️‍🌈 👩🏽‍💻 ❤️ 1️⃣",
    "葛\u{E0100}城",
    "Olá, ça va? Größe\tund\nmehr",
    "ผู้ใช้ชอบชา",
  ])("Visible text keeps what scripts and emoji need: %s", (text) =>
    expect(visibleText(text)).toBe(text),
  );

  it("Visible text is storable, stable and without hiding characters", () => {
    const unit = fc.oneof(
      fc.constantFrom("a", "é", "م", "क", "ා", "👩", "葛", "1", " ", "\n"),
      fc.constantFrom(
        "\u200D",
        "\u200C",
        "\uFE0F",
        "\u{E0041}",
        "\u202E",
        "\u0085",
        "\u2028",
        "\u0000",
      ),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 40 }), (units) => {
        const text = visibleText(units.join(""));
        expect(isStorable(text)).toBe(true);
        expect(visibleText(text)).toBe(text);
        expect(text).not.toMatch(/[\u{E0000}-\u{E007F}\u202A-\u202E\u2066-\u2069\u200B\u2060]/u);
        expect(text).not.toMatch(/(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}]/u);
        expect(text).not.toMatch(/(?:\u200C|\u200D|\uFE0F){3}/);
        expect(onOneLine(text)).not.toMatch(/[\n\v\f\r\u0085\u2028\u2029]/);
      }),
      { numRuns: 500 },
    );
  });

  it("onOneLine leaves one blank between words", () => {
    const space = fc.constantFrom(
      " ",
      "  ",
      "\n",
      "\t",
      "\u00A0",
      "\u3000",
      "\u200B",
      "a",
      "b",
      "ä",
    );
    fc.assert(
      fc.property(fc.array(space, { maxLength: 8 }), (parts) => {
        const text = parts.join("");
        expect(onOneLine(text)).toBe(visibleText(text).split(/\s+/).filter(Boolean).join(" "));
      }),
      { numRuns: 500 },
    );
  });
});

it.each(["👩‍👩‍👧‍👦", "🇵🇹", "👍🏽", "1️⃣", "e\u0301", "क्षि", "น้ำ", "각".normalize("NFD"), "日"])(
  "A text that is cut ends with a whole character: %s",
  (character) => {
    const text = character.repeat(300);
    const whole = (cut: string) => cut.length % character.length;
    for (let most = 271; most <= 281; most++) {
      expect(whole(headOf(text, most))).toBe(0);
      expect(whole(headAtWord(text, most))).toBe(0);
      expect(whole(clipped(text, most).slice(0, -1))).toBe(0);
    }
  },
);

it("A head of a character with a million marks is as long as it may be", () =>
  expect(headOf(`a${"\u0301".repeat(1_000_000)}`, 5_000)).toHaveLength(5_000));
