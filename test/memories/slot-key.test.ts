import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { slotKey } from "../../src/memories/item/slot-key.rule.js";

describe("the key of a slot", () => {
  it.each([
    ["profile", "Preferred name", "preferred_name"],
    ["profile", "preferredName", "preferred_name"],
    ["profile", "Location", "city"],
    ["profile", "  e-mail ", "email"],
    ["tasks", "Location", "location"],
    ["preferences", "Coding style (Python)", "coding_style_python"],
    ["preferences", "喜欢的茶", "喜欢的茶"],
    ["preferences", "café crème", "café_crème"],
    ["preferences", "!?", null],
  ])("%s/%s is %s", (category, key, normal) => {
    expect(slotKey(category, key)).toBe(normal);
  });

  it("stays as it is when normalised again", () => {
    fc.assert(
      fc.property(fc.constantFrom("profile", "tasks"), fc.string({ unit: "grapheme" }), (category, key) => {
        const once = slotKey(category, key);
        expect(once === null ? null : slotKey(category, once)).toBe(once);
      }),
    );
  });
});
