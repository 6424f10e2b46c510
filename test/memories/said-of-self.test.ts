import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { saidOfSelf } from "../../src/memories/guard/said-of-self.rule.js";

const said = {
  preferred_name: [
    ["Cleo", "My name is Cleo."],
    ["Cleo", "Hi, I'm Cleo and I need help."],
    ["Al", 'Please just call me "Al".'],
    ["Jürgen", "Ich heiße Jürgen."],
    ["Zoé", "Bonjour, je m'appelle Zoé."],
    ["José", "Me llamo José y vivo en Lima."],
    ["João", "Oi, meu nome é João."],
    ["Ugo", "Mi chiamo Ugo."],
    ["Sanne", "Ik heet Sanne."],
    ["Юлий", "Привет, меня зовут Юлий."],
    ["王芳", "你好,我叫王芳。"],
    ["はな", "私ははなと申します。"],
    ["민준", "제 이름은 민준입니다."],
    ["Bo", "Bitte nenn mich einfach Bo"],
    ["Bo", "I'd rather be called Bo"],
  ],
  city: [
    ["Porto", "I live in Porto."],
    ["New York", "I've just moved to New York with my wife!"],
    ["München", "Ich wohne in München."],
    ["São Paulo", "J'habite à São Paulo."],
    ["Lima", "Me llamo José y vivo en Lima."],
    ["Braga", "Eu moro em Braga."],
    ["Roma", "Io abito a Roma."],
    ["Utrecht", "Ik woon in Utrecht."],
    ["Москве", "Я живу в Москве."],
    ["上海", "我住在上海。"],
    ["ポルト", "私はポルトに住んでいます。"],
    ["포르투", "저는 포르투에 살아요."],
    ["Lisbon", "I moved from Porto to Lisbon last week"],
    ["Lisboa", "Ahora vivo en Lisboa"],
    ["Wien", "Inzwischen wohne ich in Wien"],
    ["Bonn", "Wir wohnen in Bonn."],
    ["Bonn", "Ich bin letztes Jahr nach Bonn gezogen."],
    ["Bonn", "Ich lebe mit Kim in Bonn."],
    ["Lyon", "Nous habitons à Lyon."],
    ["Lyon", "Je viens de déménager à Lyon."],
    ["Quito", "Vivimos en Quito."],
    ["Quito", "Acabo de mudarme a Quito."],
    ["京都", "去年京都に引っ越しました。"],
    ["上海", "我在上海住了三年。"],
    ["Porto", "My flat is in Porto."],
    ["Porto", "Home is Porto."],
  ],
  pronouns: [
    ["they/them", "My pronouns are they/them."],
    ["she/her", "I use she/her pronouns."],
    ["sie/ihr", "Meine Pronomen sind sie/ihr."],
    ["elle", "Mis pronombres son elle."],
  ],
  language: [
    ["Spanish", "I speak Spanish."],
    ["German", "I speak English and German"],
    ["German", "I'd prefer German"],
    ["German", "Please always answer in German."],
    ["Deutsch", "Antworte immer auf Deutsch."],
    ["français", "Réponds toujours en français."],
    ["español", "Mi idioma es el español."],
    ["中文", "请始终用中文回答"],
  ],
} as const;
type Field = keyof typeof said;
const cases = Object.entries(said).flatMap(([field, rows]) =>
  rows.map(([value, words]) => [field as Field, value, words] as const),
);

describe("what users plainly say of themselves", () => {
  it.each(cases)("%s %s: %s", (field, value, words) => {
    expect(saidOfSelf(field, { value, text: `The user: ${value}.` }, words)).toBe(true);
    // A statement has no value apart, and of several words the pattern sees the first.
    const unquoted = words.replaceAll('"', "");
    // Korean joins endings to names.
    if (value !== "민준") expect(saidOfSelf(field, { text: `The user: ${value}.` }, unquoted)).toBe(true);
  });

  it.each([
    ["preferred_name", "Cleo", "Cleo texted me."],
    ["preferred_name", "Cleo", "My sister's name is Cleo."],
    ["preferred_name", "Cleo", "My name is not Cleo."],
    ["preferred_name", "Cleo", "Is my name Cleo?"],
    ["preferred_name", "Cleo", "My name is Cleopatra."],
    ["preferred_name", "Cleo", "He said my name is Cleo."],
    ["preferred_name", "Cleo", "In my novel: my name is Cleo."],
    ["preferred_name", "Cleo", 'The sign read "my name is Cleo".'],
    ["city", "Porto", "How is the weather in Porto?"],
    ["city", "Porto", "I don't live in Porto."],
    ["city", "Porto", "I used to live in Porto."],
    ["city", "Porto", "If I live in Porto, do I pay taxes?"],
    ["city", "Porto", "My sister and I met in Porto."],
    ["city", "Porto", "My boss thinks I live in Porto"],
    ["city", "Porto", "I will be in Porto next week."],
    ["city", "Bonn", "Wir wohnen nicht in Bonn."],
    ["city", "Bonn", "Ich wohne schon nicht mehr in Bonn."],
    ["city", "上海", "我在上海住过。"],
    ["city", "Porto", "Si vivo en Porto, pago menos."],
    ["city", "Porto", "Ya no vivo en Porto."],
    ["city", "Porto", "We moved out of Porto."],
    ["city", "Porto", "Eu não moro em Porto."],
    ["city", "Porto", "Wenn ich in Porto wohne, was dann"],
    ["pronouns", "they/them", "They gave it to them."],
    ["language", "Spanish", "Translate this into Spanish."],
    ["language", "Spanish", "My wife speaks Spanish."],
  ] as const)("is no conclusion, question or supposition: %s %s: %s", (field, value, words) => {
    expect(saidOfSelf(field, { value, text: `The user: ${value}.` }, words)).toBe(false);
    expect(saidOfSelf(field, { text: `The user: ${value}.` }, words)).toBe(false);
  });

  it.each([
    ["city", "東京", "私は東京に住んでいません。"],
    ["city", "東京", "私は東京に住んでいた。"],
    ["city", "서울", "저는 서울에 살지 않아요."],
    ["city", "서울", "저는 서울에 살았어요."],
    ["city", "Berlin", "Ich wohne in Berlin nicht mehr."],
    ["city", "Berlin", "I live in Berlin no more."],
    ["city", "Berlin", "I live in Berlin, not!"],
    ["city", "Berlin", "I'm in Berlin next year"],
    ["city", "Berlin", "I live in Berlin in the game."],
    ["city", "Berlin", "I live in Berlin only in summer"],
    ["city", "Berlin", "I live in Berlin until June"],
    ["preferred_name", "Ana", "I'm Ana's mother."],
    ["preferred_name", "Ana", "Je suis Ana sur Instagram"],
    ["preferred_name", "later", "Call me later"],
    ["language", "French", "Please answer in French just this once"],
  ] as const)("is not %s %s where it is taken back: %s", (field, value, words) => {
    expect(saidOfSelf(field, { value, text: `The user: ${value}.` }, words)).toBe(false);
  });

  it.each([
    ["city", "Berlin", "I live in Berlin and never drive."],
    ["city", "Berlin", "I live in Berlin now, not in Paris."],
    ["city", "Braga", "Eu moro em Braga no centro."],
    ["preferred_name", "Ana", "I'm Ana and I can't sleep."],
  ] as const)("is %s %s though something else is denied: %s", (field, value, words) => {
    expect(saidOfSelf(field, { value, text: `The user: ${value}.` }, words)).toBe(true);
  });

  it.each([
    ["preferred_name", "Alex", "Name: Alex"],
    ["preferred_name", "Alex", "Hi, Alex here."],
    ["preferred_name", "Alex", "Hello! This is Alex from accounting, I need a hand"],
    ["preferred_name", "Priya", "It's Priya, not Prya."],
    ["preferred_name", "由美", "由美です。"],
    ["preferred_name", "Pri", "I'd rather you called me Pri."],
    ["pronouns", "they/them", "I'm non-binary, they/them please."],
    ["city", "Porto", "Based in Porto."],
    ["city", "Berlin, Germany", "Location: Berlin, Germany"],
    ["city", "Graz", "Wohnort: Graz"],
    ["pronouns", "she/her", "she/her btw"],
    ["pronouns", "they/them", "(they/them)"],
    ["language", "French", "Language: French"],
    ["language", "Deutsch", "Auf Deutsch, bitte!"],
  ] as const)("may be said in short: %s %s: %s", (field, value, words) => {
    expect(saidOfSelf(field, { value, text: `The user: ${value}.` }, words)).toBe(true);
  });

  it.each([
    ["preferred_name", "Alex", "This is Alex."],
    ["preferred_name", "Alex", "Alex here is my dog."],
    ["preferred_name", "Alex", "Project name: Alex"],
    ["preferred_name", "Alex", "Is Alex here?"],
    ["preferred_name", "Alex", "Alex"],
    ["city", "Porto", "A company, based in Porto."],
    ["city", "Porto", "Porto"],
    ["pronouns", "she", "She."],
    ["language", "French", "French fries, please."],
  ] as const)("is not in so short a word: %s %s: %s", (field, value, words) => {
    expect(saidOfSelf(field, { value, text: `The user: ${value}.` }, words)).toBe(false);
  });

  it("may be the value alone where it plainly corrects what was known", () => {
    const bo = { value: "Bo", text: "The user's name is Bo." };
    for (const words of ["No, it is Bo.", "sorry, I meant Bo", "Nein, ich bin Bo!", "Actually Bo."]) {
      expect(saidOfSelf("preferred_name", { ...bo, correction: true }, words)).toBe(true);
    }
    for (const words of ["No, Bo is my dog.", "No, it is Bob.", "Bo", "No, is it Bo?"]) {
      expect(saidOfSelf("preferred_name", { ...bo, correction: true }, words)).toBe(false);
    }
    expect(saidOfSelf("preferred_name", bo, "No, it is Bo.")).toBe(false);
  });

  it("holds every word of a field that only the configuration knows", () => {
    const nuts = { text: "The user is allergic to nuts." };
    expect(saidOfSelf(null, nuts, "I am allergic to nuts.")).toBe(true);
    expect(saidOfSelf(null, nuts, "I hate nuts.")).toBe(false);
    expect(saidOfSelf(null, nuts, "My son is allergic to milk.")).toBe(false);
    expect(saidOfSelf(null, nuts, "Are nuts something people are allergic to?")).toBe(false);
    const email = { value: "ana@example.org", text: "The user's email is ana@example.org." };
    expect(saidOfSelf(null, email, "My email is ana@example.org.")).toBe(true);
    expect(saidOfSelf(null, email, "Write to ana@example.org.")).toBe(false);
  });

  it("takes no value for said that the words do not hold, whatever it is", () => {
    const field = fc.constantFrom<Field>("preferred_name", "city", "pronouns", "language");
    fc.assert(
      fc.property(
        field,
        fc.string({ unit: "grapheme", minLength: 1 }),
        fc.string({ unit: "grapheme" }),
        (of, value, words) => {
          const result = saidOfSelf(of, { value, text: `The user: ${value}` }, `I live in Rome. ${words}`);
          if (value.trim() !== "" && !words.includes(value) && !/^\W|rome/i.test(value) && result)
            expect(words.normalize("NFKC").toLowerCase()).toContain(value.normalize("NFKC").toLowerCase());
        },
      ),
      { numRuns: 300 },
    );
  });
});
