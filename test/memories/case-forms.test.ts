import { describe, expect, it } from "vitest";
import { casesOf } from "../../src/memories/compare/case-forms.js";
import { detailDifference } from "../../src/memories/compare/detail-difference.js";

const both = (first: string, second: string) => [
  detailDifference(first, second),
  detailDifference(second, first),
];

describe("statements differ in what is declined", () => {
  it.each([
    // Months
    ["Пользователь родился в августе.", "Пользователь родился в июле."],
    ["Пользователь в отпуске с июня.", "Пользователь в отпуске с июля."],
    ["Відпустка у лютому.", "Відпустка у березні."],
    ["Urlop jest w lutym.", "Urlop jest w marcu."],
    ["Schůzka je v červnu.", "Schůzka je v červenci."],
    // Days
    ["Użytkownik biega we wtorki.", "Użytkownik biega w czwartki."],
    ["Zkoušky jsou v pátky.", "Zkoušky jsou ve čtvrtky."],
    ["Sastanci su utorkom.", "Sastanci su četvrtkom."],
    ["Зустріч щовівторка.", "Зустріч щочетверга."],
    ["A felhasználó kedden fut.", "A felhasználó csütörtökön fut."],
    // Ordinals
    ["Пользователь живёт на втором этаже.", "Пользователь живёт на третьем этаже."],
    ["Пользователь живёт на седьмом этаже.", "Пользователь живёт на восьмом этаже."],
    ["Користувач живе на другому поверсі.", "Користувач живе на третьому поверсі."],
    ["Użytkownik mieszka na trzecim piętrze.", "Użytkownik mieszka na piątym piętrze."],
    ["Uživatel bydlí ve třetím patře.", "Uživatel bydlí v pátém patře."],
    ["Používateľ býva na treťom poschodí.", "Používateľ býva na piatom poschodí."],
    ["Korisnik živi na trećem katu.", "Korisnik živi na petom katu."],
    ["Vartotojas gyvena trečiame aukšte.", "Vartotojas gyvena penktame aukšte."],
    ["Käyttäjä asuu kolmannessa kerroksessa.", "Käyttäjä asuu neljännessä kerroksessa."],
    [
      "Gebruiker woont op de tweeëntwintigste verdieping.",
      "Gebruiker woont op de drieëntwintigste verdieping.",
    ],
    ["Es ist sein dreiundzwanzigster Geburtstag.", "Es ist sein vierundzwanzigster Geburtstag."],
    ["È il suo ventiduesimo libro.", "È il suo ventitreesimo libro."],
    // Numbers
    ["El usuario tiene veintidós años.", "El usuario tiene veintitrés años."],
    ["El usuario gana quinientos euros.", "El usuario gana setecientos euros."],
    ["У пользователя двести книг.", "У пользователя триста книг."],
    ["Пользователь живёт с пятью кошками.", "Пользователь живёт с шестью кошками."],
    ["The user drinks 2 pints a day.", "The user drinks 2 gallons a day."],
    ["The user can swim.", "The user is unable to swim."],
  ])("figures: %s / %s", (first, second) => {
    expect(both(first, second)).toEqual(["figures", "figures"]);
  });

  it.each([
    ["У пользователя болит левое колено.", "У пользователя болит правое колено."],
    ["Użytkownika boli lewe kolano.", "Użytkownika boli prawe kolano."],
    ["Uživatele bolí levé koleno.", "Uživatele bolí pravé koleno."],
    ["Der Nutzer wohnt im nördlichen Teil.", "Der Nutzer wohnt im südlichen Teil."],
    ["Пользователь живёт на севере города.", "Пользователь живёт на юге города."],
    ["Пользователь живёт с братом.", "Пользователь живёт с сестрой."],
    ["Пользователь держит собаку.", "Пользователь держит другую собаку."],
  ])("words: %s / %s", (first, second) => {
    expect(both(first, second)).toEqual(["words", "words"]);
  });

  it.each([
    ["Пользователь плавает по вторникам.", "Пользователь плавает во вторник."],
    ["Użytkownik biega we wtorki.", "Użytkownik biega we wtorek."],
    ["El usuario tiene veintidós años.", "El usuario tiene 22 años."],
    ["У пользователя двести книг.", "У пользователя 200 книг."],
    ["Пользователь любит семью.", "Пользователь любит свою семью."],
    ["Пользователь живёт на третьем этаже.", "Третий этаж: там живёт пользователь."],
  ])("and not where only the case does: %s / %s", (first, second) => {
    expect(both(first, second)).toEqual([null, null]);
  });
});

it("an ordinal has the cases of its language, and of that alone", () => {
  expect(casesOf("ru", "второй")).toEqual(expect.arrayContaining(["второй", "втором", "второго", "вторую"]));
  expect(casesOf("pl", "trzeci")).toEqual(expect.arrayContaining(["trzecim", "trzeciego", "trzeciej"]));
  expect(casesOf("en", "second")).toEqual(["second"]);
});
