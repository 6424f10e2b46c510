import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryError } from "../../src/errors.js";
import { createScreen } from "../../src/screening/reads-as-instruction.js";
import { summaryText as screened } from "../../src/summaries/make-summary.js";

const screen = createScreen(undefined, () => {});
const summaryText = async (text: string, maxCharacters: number) =>
  (await screened(screen, text, maxCharacters)).text;

describe("summaryText", () => {
  it("summaryText trims, and removes what the database cannot store", async () =>
    expect(await summaryText("  Ana chose\u0000 FastAPI.\n", 100)).toBe("Ana chose FastAPI."));

  it.each(["", "   ", "\n\t", "\u0000", "…", "--- !!! ---", "{}"])(
    "summaryText refuses %j as empty",
    async (text) => {
      await expect(summaryText(text, 100)).rejects.toThrow(
        expect.objectContaining({ code: "MODEL_OUTPUT_INVALID" }),
      );
    },
  );

  it("summaryText cuts after the last sentence that fits", async () => {
    const text =
      "First sentence here. Second one follows! A third is far too long to be kept whole.";
    expect(await summaryText(text, 50)).toBe("First sentence here. Second one follows!");
  });

  it("summaryText cuts in the middle of a sentence rather than lose most of the text", async () =>
    expect(await summaryText(`Hi. ${"x".repeat(100)}`, 50)).toHaveLength(50));

  it("summaryText returns a text that is trimmed, storable, not longer than allowed, and stable", () =>
    fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "grapheme", maxLength: 400, size: "max" }),
        fc.integer({ min: 200, max: 300 }),
        async (text, maxCharacters) => {
          const result = await summaryText(text, maxCharacters).catch((error: unknown) => error);
          if (typeof result !== "string") {
            expect(MemoryError.is(result, "MODEL_OUTPUT_INVALID")).toBe(true);
            return;
          }
          expect(result.length).toBeLessThanOrEqual(maxCharacters);
          expect(result).toBe(result.trim());
          expect(result).not.toMatch(/\p{Surrogate}/u);
          expect(await summaryText(result, maxCharacters)).toBe(result);
        },
      ),
    ));

  it("summaryText refuses a text that a classifier refuses only as a whole", async () => {
    const whole = async (text: string) => /one.*two.*three/s.test(text);
    const refused = screened(whole, "Part one. Part two. Part three.", 200);
    await expect(refused).rejects.toThrow(
      expect.objectContaining({ code: "MODEL_OUTPUT_INVALID" }),
    );
  });
});
