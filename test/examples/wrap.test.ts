import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasColours, paintFor, usableWidth } from "../../examples/terminal/paint.js";
import { columnsOf, createFlow, plain, wrapped } from "../../examples/terminal/wrap.js";

describe("wrapping", () => {
  const words = fc.array(
    fc.stringMatching(/^[\p{Script=Latin}\p{Script=Cyrillic}\d,.“”-]{1,12}$/u),
    {
      minLength: 1,
      maxLength: 60,
    },
  );
  const widths = fc.integer({ min: 20, max: 110 });

  test("Wrapped text keeps every word whole and in order, and no line is wider than the window", () => {
    fc.assert(
      fc.property(words, widths, (said, width) => {
        const lines = wrapped(said.join(" "), width);
        expect(lines.flatMap((line) => line.split(" ").filter((word) => word !== ""))).toEqual(
          said,
        );
        expect(lines.join("").replaceAll(" ", "")).toBe(said.join(""));
        for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
      }),
    );
  });

  test("Wrapped text comes out the same, however the text arrives", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.array(fc.nat(20)),
        widths,
        (text, cuts, width) => {
          fc.pre(plain(text) === text);
          let streamed = "";
          const flow = createFlow(
            (piece) => {
              streamed += piece;
            },
            () => width,
          );
          let from = 0;
          const letters = [...text];
          for (const cut of cuts) {
            flow.add(letters.slice(from, from + cut).join(""));
            from += cut;
          }
          flow.add(letters.slice(from).join(""));
          flow.end();
          expect(streamed.replace(/\n$/, "")).toBe(wrapped(text, width).join("\n"));
        },
      ),
    );
  });

  test.each([
    [
      "an item's further lines begin below its words",
      "- one two three four",
      10,
      ["- one two", "  three", "  four"],
    ],
    ["numbers too", "12. one two three", 9, ["12. one", "    two", "    three"]],
    ["indented lines stay so", "a\n  b c d e", 6, ["a", "  b c", "  d e"]],
    ["empty lines stay", "a\n\nb", 20, ["a", "", "b"]],
    [
      "an address stays whole",
      "see https://example.org/a/b/c now",
      12,
      ["see", "https://example.org/a/b/c", "now"],
    ],
    ["wide letters count twice and may be parted", "記憶を持つ", 6, ["記憶を", "持つ"]],
    ["nothing is one empty line", "", 20, [""]],
  ])("Wrapped text keeps its shape: %s", (_, text, width, lines) => {
    expect(wrapped(text, width)).toEqual(lines);
  });

  test("Wrapped text holds nothing that a terminal would obey", () => {
    expect(
      plain(
        "a\u001b[31mred\u001b[0m\u001b]0;title\u0007b\u001b]8;;http://x\u001b\\c\rd\u0008e\u009bf\u202eg\th",
      ),
    ).toBe("aredbcdefg  h");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(wrapped(text, 40).join("")).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});

describe("colours", () => {
  test.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: "1" }, false],
    [true, { NO_COLOR: "" }, true],
    [false, { FORCE_COLOR: "1" }, true],
    [true, { FORCE_COLOR: "0" }, false],
    [true, { NO_COLOR: "1", FORCE_COLOR: "1" }, false],
    [true, { TERM: "dumb" }, false],
  ])("Output to a terminal (%s) in the environment %o is coloured: %s", (isTTY, env, coloured) => {
    expect(hasColours({ isTTY, env })).toBe(coloured);
    expect(paintFor({ isTTY, env })("dim", "x")).toBe(coloured ? "\u001b[2mx\u001b[22m" : "x");
  });

  test("The last column stays free, and no window is too wide or too narrow to read in", () => {
    expect([undefined, 0, Number.NaN, 5, 80, 100, 400].map(usableWidth)).toEqual([
      80, 80, 80, 20, 79, 99, 110,
    ]);
  });
});
