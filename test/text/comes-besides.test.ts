import { describe, expect, it } from "vitest";
import { comesBesides } from "../../src/text/comes-besides.js";

describe("what is told", () => {
  it.each([
    "The user is also a volunteer firefighter.",
    "I'm an engineer, and a firefighter as well.",
    "Nebenbei? Ich bin auch Feuerwehrmann.",
    "Je suis aussi pompier.",
    "También soy bombero, y además cocinero.",
    "Я также пожарный.",
    "我也是消防员。",
    "He has another job in the evening.",
  ])("comes besides what was: %s", (text) => {
    expect(comesBesides(text)).toBe(true);
  });

  it.each([
    "The user works as an engineer.",
    "Also, my name is Ana.",
    "And also: call me Ana. Also I take sugar.",
    "I am also moving to Porto.",
    "I no longer work there, I am now also a baker.",
    "Now I also live in Porto.",
    "Takeaway food is what I take.",
    "",
  ])("does not, or takes its place: %s", (text) => {
    expect(comesBesides(text)).toBe(false);
  });
});
