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
    "The user moonlights as a DJ.",
    "I play the drums, too.",
    "Sono ingegnere e faccio pure il DJ.",
    "Пользователь ещё и пожарный.",
    "По выходным я к тому же пожарный.",
    "Ещё я подрабатываю курьером.",
    "Користувач ще й пожежник.",
    "Użytkownik dorabia jako kurier.",
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
    "Porto is too far for the user.",
    "Пользователь всё ещё живёт в Твери.",
    "Пользователь ещё не женат.",
    "The user wears pure wool.",
    "",
  ])("does not, or takes its place: %s", (text) => {
    expect(comesBesides(text)).toBe(false);
  });
});
