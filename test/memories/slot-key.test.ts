import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { slotKey } from "../../src/memories/item/category.rule.js";
import { forAll } from "../support/for-all.js";

describe("keys of slots", () => {
  it.each([
    ["Preferred name", "preferred_name"],
    ["preferredName", "preferred_name"],
    ["Location", "location"],
    ["  e-mail ", "e_mail"],
    ["Coding style (Python)", "coding_style_python"],
    ["喜欢的茶", "喜欢的茶"],
    ["café crème", "café_crème"],
    ["!?", null],
  ])("The key %j is normalised to the slot key %j", (key, normal) =>
    expect(slotKey(key)).toBe(normal),
  );

  it("A slot key is stable when it is normalised again", () =>
    forAll(fc.string({ unit: "grapheme" }), (key) => {
      const once = slotKey(key);
      expect(once === null ? null : slotKey(once)).toBe(once);
    }));
});
