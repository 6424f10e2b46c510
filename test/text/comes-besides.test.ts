import { describe, expect, it } from "vitest";
import { comesBesides } from "../../src/text/comes-besides.js";

describe("what is told", () => {
  it.each([
    "The user is also a volunteer firefighter.",
    "I'm an engineer, and a firefighter as well.",
    "Nebenbei? Ich bin auch Feuerwehrmann.",
    "Je suis aussi pompier.",
    "También soy bombero, y además cocinero.",
    "我也是消防员。",
    "The user moonlights as a DJ.",
    "I play the drums, too.",
    "Sono ingegnere e faccio pure il DJ.",
    "Пользователь ещё и пожарный.",
    "Ещё я подрабатываю курьером.",
    "Користувач ще й пожежник.",
    "Użytkownik dorabia jako kurier.",
    "Kullanıcı aynı zamanda DJ.",
    "DJもやっています。",
    "週末は副業で講師をしている。",
    "夜は講師もしています。",
    "أعمل بالإضافة إلى ذلك مصوّرا.",
    "Ich mag nicht nur Rot, sondern auch Blau.",
    "No solo soy médico, sino también músico.",
    "Saya juga pemain gitar.",
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
    "I drive another car these days, a Skoda.",
    "Meine Lieblingsfarbe ist auch nicht Rot, sondern Blau.",
    "Jednak też zmieniłem zdanie: ulubiony to niebieski.",
    "我最喜欢的颜色是蓝色，也不喜欢红色了。",
    "我也换工作了，在百度。",
    "Je n'aime plus le rouge non plus, j'aime aussi mieux le bleu désormais.",
    "Ayrıca taşındım, İzmir'deyim.",
    "仕事もやめて、今は大阪です。",
    "Я также переехал в Тверь.",
    "The user wears pure wool.",
    "",
  ])("does not, or takes its place: %s", (text) => {
    expect(comesBesides(text)).toBe(false);
  });
});
