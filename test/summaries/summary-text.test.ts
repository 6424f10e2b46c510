import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryError } from "../../src/errors.js";
import { summaryText as screened } from "../../src/summaries/make-summary.js";

const summaryText = (text: string, maxCharacters: number) => screened(text, maxCharacters).text;

describe("summaryText", () => {
  it("trims, and takes out what the database cannot hold", () => {
    expect(summaryText("  Ana chose\u0000 FastAPI.\n", 100)).toBe("Ana chose FastAPI.");
  });

  it.each(["", "   ", "\n\t", "\u0000", "…", "--- !!! ---", "{}"])("refuses %j as empty", (text) => {
    expect(() => summaryText(text, 100)).toThrow(expect.objectContaining({ code: "MODEL_OUTPUT_INVALID" }));
  });

  it("cuts after the last sentence that fits", () => {
    const text = "First sentence here. Second one follows! A third is far too long to be kept whole.";
    expect(summaryText(text, 50)).toBe("First sentence here. Second one follows!");
  });

  it("cuts in the middle of a sentence rather than lose most of the text", () => {
    expect(summaryText(`Hi. ${"x".repeat(100)}`, 50)).toHaveLength(50);
  });

  it("is trimmed, storable, not longer than allowed, and stable", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 400, size: "max" }),
        fc.integer({ min: 200, max: 300 }),
        (text, maxCharacters) => {
          let result: string;
          try {
            result = summaryText(text, maxCharacters);
          } catch (error) {
            expect(MemoryError.is(error, "MODEL_OUTPUT_INVALID")).toBe(true);
            return;
          }
          expect(result.length).toBeLessThanOrEqual(maxCharacters);
          expect(result).toBe(result.trim());
          expect(result).not.toMatch(/\p{Surrogate}/u);
          expect(summaryText(result, maxCharacters)).toBe(result);
        },
      ),
    );
  });
});
