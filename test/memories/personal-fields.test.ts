import { describe, expect, it } from "vitest";
import { personalKey, personalStatement } from "../../src/memories/item/personal-fields.rule.js";

const statements: Record<string, string[]> = {
  city: [
    "The user lives in Porto.",
    "The user currently lives in Porto with a cat.",
    "The user has recently moved to Lisbon.",
    "The user is based in Berlin and works remotely.",
    "Since 2021 the user resides in Graz.",
    "The user's home is in Porto.",
    "The user calls Porto home.",
    "The user works as a nurse. The user has an apartment in Graz.",
    "Der Nutzer wohnt in Wien.",
    "Die Nutzerin ist vor kurzem nach Graz gezogen.",
    "L'utilisateur habite à Lyon.",
    "L'utilisatrice vit actuellement en Bretagne.",
    "El usuario vive en Sevilla.",
    "La usuaria se ha mudado a Madrid.",
    "O usuário mora em Lisboa.",
    "A utilizadora mudou-se para o Porto.",
    "L'utente abita a Torino.",
    "De gebruiker woont in Utrecht.",
    "Пользователь живёт в Казани.",
    "Пользовательница переехала в Минск.",
    "用户住在上海。",
    "用户目前居住在北京。",
    "ユーザーは京都に住んでいる。",
    "사용자는 부산에 거주한다.",
  ],
  language: [
    "The user speaks Portuguese at home.",
    "The user prefers to be addressed in German.",
    "The user's native language is Danish.",
    "The user wants answers in French.",
    "Der Nutzer spricht Deutsch.",
    "L'utilisateur préfère parler français.",
    "El usuario habla español.",
    "O usuário prefere escrever em português.",
    "L'utente parla italiano.",
    "De gebruiker spreekt Nederlands.",
    "Пользователь говорит по-русски.",
    "用户的母语是中文。",
    "ユーザーの母語は日本語である。",
    "사용자는 한국어를 사용한다.",
  ],
  pronouns: [
    "The user uses they/them pronouns.",
    "The user's pronouns are she/her.",
    "The user goes by he/him.",
    "Die Nutzerin verwendet die Pronomen sie/ihr.",
    "L'utilisateur utilise le pronom iel.",
    "El usuario usa los pronombres elle.",
    "O usuário usa os pronomes ela/dela.",
    "用户的代词是她。",
  ],
  preferred_name: [
    "The user goes by Al.",
    "The user prefers to be called Ana.",
    "The user would like to be addressed as Dr. Silva.",
    "The user's nickname is Bo.",
    "Der Nutzer möchte Al genannt werden.",
    "L'utilisatrice se fait appeler Nana.",
    "El usuario prefiere que le llamen Paco.",
    "O usuário prefere ser chamado de Zé.",
    "L'utente vuole essere chiamato Gigi.",
    "Пользователь просит называть его Саша.",
    "用户希望被称为小明。",
    "ユーザーはケンと呼ばれたい。",
    "사용자는 민이라고 불리길 원한다.",
  ],
};

const others = [
  "The user was in Porto for a week.",
  "The user's sister lives in Porto.",
  "The user has a friend who lives in Rome.",
  "The user likes tea and long walks.",
  "The user prefers Python for scripts.",
  "The user writes Go and SQL at work.",
  "The user's favourite language is Rust.",
  "The user speaks at conferences.",
  "The user lives with two cats.",
  "The user called the bank on Monday.",
  "The user is moving the meeting to Friday.",
  "Die Schwester des Nutzers wohnt in Wien.",
  "Der Nutzer mag Tee.",
  "La sœur de l'utilisateur habite à Lyon.",
  "L'utilisateur aime le thé.",
  "A irmã do usuário mora em Lisboa.",
  "Сестра пользователя живёт в Казани.",
  "用户的姐姐喜欢茶。",
  "Porto is a city in Portugal.",
];

describe("a sentence about the user", () => {
  for (const [field, said] of Object.entries(statements)) {
    it.each(said)(`is about the ${field}: %s`, (text) => {
      expect(personalStatement(text)).toBe(field);
    });
  }

  it.each(others)("is about none of these fields: %s", (text) => {
    expect(personalStatement(text)).toBeNull();
  });

  it("names the user by the name that the message carries", () => {
    expect(personalStatement("Ana lives in Porto.", "Ana")).toBe("city");
    expect(personalStatement("Ana lives in Porto.")).toBeNull();
    expect(personalStatement("Anabel lives in Porto.", "Ana")).toBeNull();
  });
});

describe("a key", () => {
  it.each([
    ["name_to_use", "preferred_name"],
    ["call_me", "preferred_name"],
    ["surnom", "preferred_name"],
    ["cidade", "city"],
    ["Wohnort".toLowerCase(), "city"],
    ["città", "city"],
    ["idioma", "language"],
    ["язык", "language"],
    ["言語", "language"],
    ["pronombres", "pronouns"],
    ["favourite_tea", null],
    ["constructor", null],
    ["name", "preferred_name"],
    ["first_name", "preferred_name"],
    ["nombre", "preferred_name"],
    ["home_town", null],
  ])("%s means %s", (key, field) => {
    expect(personalKey(key)).toBe(field);
  });
});
