import fc from "fast-check";
import { expect, test } from "vitest";
import { plain, wrapped } from "../../examples/terminal/wrap.js";
import { forAll } from "../support/for-all.js";

test("Wrapped text holds nothing that a terminal would obey", () => {
  expect(
    plain(
      "a\u001b[31mred\u001b[0m\u001b]0;title\u0007b\u001b]8;;http://x\u001b\\c\rd\u0008e\u009bf\u202eg\th",
    ),
  ).toBe("aredbcdefg  h");
  forAll(fc.string({ unit: "binary" }), (text) => {
    expect(wrapped(text, 40).join("")).not.toMatch(/\p{Cc}/u);
  });
});
