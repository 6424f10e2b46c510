import fc from "fast-check";
import { expect, it } from "vitest";
import { figuresOf, haveSameFigures, newFigure } from "../../src/text/figures.js";
import { forAll } from "../support/for-all.js";

it.each([
  ["The rent is 1,250 euros.", "Die Miete beträgt 1.250 Euro.", true],
  ["It is 1 250 000 metres away.", "1250000 metres", true],
  ["The price is 12,34,567 rupees.", "1234567", true],
  ["It takes 1,5 hours.", "It takes 1.5 hours.", true],
  ["They owe 1,234.50.", "1.234,50 are owed.", true],
  ["At 09:30 the user runs 5 km.", "The user runs 5 km at 9:30.", true],
  ["The user is ٢٥ years old.", "The user is 25 years old.", true],
  ["उपयोगकर्ता २ घंटे", "2 hours", true],
  ["１２：３０", "12:30", true],
  ["The user eats 5–6 eggs.", "5-6 eggs are eaten.", true],
  ["Les 3 chats ont 2 ans.", "2-year-old cats: 3", true],
  ["It is -5 degrees.", "It is 5 degrees.", false],
  ["The area is 10² metres.", "The area is 102 metres.", false],
  ["The user drinks 1½ litres.", "The user drinks 1 litre.", false],
  ["Python 3.1", "Python 3.10", false],
  ["Born on 1990-03-05.", "Born on 1990-05-03.", false],
  ["On 5/3 the user moves.", "On 3/5 the user moves.", false],
  ["The code is 0042.", "The code is 42.", false],
  ["The user has 2 cats.", "The user has cats.", false],
  ["The user runs 5 km.", "The user runs 5 km, 5 times.", false],
])("haveSameFigures compares the figures of %s / %s", (one, other, same) => {
  expect(haveSameFigures(one, other)).toBe(same);
  expect(haveSameFigures(other, one)).toBe(same);
});

it("figuresOf reads a number in every script's digits", () => {
  const zeros = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0x1040, 0xff10, 0x116d0, 0x116da, 0x1d7ce];
  forAll(fc.nat(), fc.constantFrom(...zeros), (number, zero) => {
    const written = [...String(number)]
      .map((digit) => String.fromCodePoint(zero + Number(digit)))
      .join("");
    expect(figuresOf(`№ ${written}.`)).toEqual([String(number)]);
  });
});

it("newFigure finds a figure that no source has", () => {
  const sources = ["The user pays 1,250 euros.", "Since 2024-03-05 the user lives in Porto."];
  expect(newFigure("Since 2024-03-05 the user pays 1250 euros in Porto.", sources)).toBeUndefined();
  expect(newFigure("Since 2024-05-03 the user pays 1250 euros.", sources)).toBe("2024-05-03");
});
