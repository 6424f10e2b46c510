import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { personalKey, personalStatement } from "../../src/memories/item/personal-fields.rule.js";

const statements: Record<string, string[]> = {
  city: [
    "The user lives in Porto.",
    "The user currently lives in Porto with a cat.",
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
    "ユーザーは京都に住んでいる。",
    "사용자는 부산에 거주한다.",
    "The user has a house in Porto.",
    "The user is located in Berlin.",
    "The user moved from Porto to Lisbon.",
    "The user's home city is Porto.",
    "The user's hometown is Graz.",
    "The user's address is Main Street 5, Graz.",
    "The user settled in Madrid in 2020.",
    "The user recently relocated to San Francisco for work.",
    "The user lives in a town called Graz.",
    "The user is living in Porto now.",
    "Der Wohnort des Nutzers ist Wien.",
    "La città dell'utente è Roma.",
  ],
  language: [
    "The user prefers to be answered in French when studying.",
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
    "The user speaks fluent Japanese.",
    "The user writes in Polish.",
    "The user understands a bit of Dutch.",
    "The user is a native Spanish speaker.",
    "The user speaks some Thai with her family.",
    "The user is fluent in Turkish.",
    "The user communicates in Spanish with family.",
    "The user prefers to speak Swedish at work.",
    "The user wants everything in Italian.",
    "Der Nutzer bevorzugt Deutsch.",
    "Der Nutzer möchte Antworten auf Englisch.",
    "Die Muttersprache des Nutzers ist Polnisch.",
    "L'utilisateur parle couramment anglais.",
    "L'utilisateur préfère l'anglais.",
    "La langue maternelle de l'utilisateur est le français.",
    "El usuario prefiere el inglés.",
    "El usuario prefiere respuestas en español.",
    "O usuário fala inglês e português.",
    "L'utente preferisce l'inglese.",
    "De gebruiker wil antwoorden in het Engels.",
    "De gebruiker verkiest Engels.",
    "Пользователь предпочитает русский язык.",
    "Пользователь пишет на русском.",
    "用户喜欢用英语交流。",
    "ユーザーは英語で話す。",
    "사용자는 영어로 대화한다.",
    "The user speaks English (native).",
    "The user speaks Hindi/Urdu.",
    "The user's preferred language: Portuguese.",
    "De moedertaal van de gebruiker is Fries.",
  ],
  pronouns: [
    "The user's pronouns are she/her.",
    "The user goes by he/him.",
    "Die Nutzerin verwendet die Pronomen sie/ihr.",
    "L'utilisateur utilise le pronom iel.",
    "El usuario usa los pronombres elle.",
    "O usuário usa os pronomes ela/dela.",
    "用户的代词是她。",
    "The user prefers they/them.",
  ],
  preferred_name: [
    "The user goes by Al.",
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
    "The user's name is Rex.",
    "The user is called Ana.",
    "The user is named Ana Silva.",
    "The user wants to be called Bo.",
    "The user is known as Big Al.",
    "The user prefers being called Dr. Silva.",
    "The user answers to Bo.",
    "The user asked to be called Bo.",
    "The user's preferred name is Bo.",
    "The name of the user is Ana.",
    "The user's first name is Ana.",
    "The user prefers the name Bo.",
    "The user wants people to call her Bo.",
    "Der Name des Nutzers ist Bo.",
    "Le prénom de l'utilisateur est Luc.",
    "El nombre del usuario es Paco.",
    "O nome do usuário é Zé.",
    "Имя пользователя — Саша.",
  ],
};

const others = [
  "The user wants to learn Spanish.",
  "The user would like to take up Italian and wants to practise French with a tutor.",
  "The user likes teaching English.",
  "The user wants to improve in German.",
  "The user prefers studying Japanese in the evening.",
  "Der Nutzer möchte Spanisch lernen.",
  "L'utilisateur veut apprendre l'espagnol.",
  "L'utilisatrice souhaite améliorer son niveau en anglais.",
  "El usuario quiere aprender el inglés.",
  "La usuaria quiere mejorar en alemán.",
  "O usuário quer aprender o francês.",
  "L'utente vuole imparare lo spagnolo.",
  "De gebruiker wil Spaans leren.",
  "De gebruiker wil leren praten in het Spaans.",
  "Пользователь предпочитает учить испанский.",
  "The user's sister lives in Porto.",
  "The user prefers Python for scripts.",
  "The user writes Go and SQL at work.",
  "The user's main language is OCaml.",
  "ユーザーの猫の名前はタマです。",
  "ユーザーの妹の名前は花子です。",
  "ユーザーは仕事でRust言語を使っている。",
  "用户养了一只叫咪咪的猫。",
  "用户女儿的名字叫小雨。",
  "用户喜欢叫外卖。",
  "用户希望叫一辆出租车。",
  "用户写代码使用Python语言。",
  "用户的姐姐住在上海。",
  "사용자의 고양이 이름은 나비입니다.",
  "사용자는 프로그래밍 언어로 Rust를 쓴다.",
  "The user has a holiday house in Corsica.",
  "The user moved to the night shift.",
  "Der Nutzer heißt Gäste willkommen.",
  "De gebruiker heet gasten welkom.",
  "The user's preferred language is Objective-C.",
  "The user speaks at conferences.",
  "Die Schwester des Nutzers wohnt in Wien.",
  "La sœur de l'utilisateur habite à Lyon.",
  "The user is called by her bank every month.",
  "The name of the user's dog is Rex.",
  "The user answers to a Danish manager.",
  "The user's company name is Acme.",
  "The user's first name choice for the baby is Emma.",
  "The user is moving to Python 3.",
  "The user lives in fear of spiders.",
  "The user lives in a shared flat.",
  "The user has a house in need of repair.",
  "The user calls her mother from home.",
  "The user moved the meeting to Friday.",
  "The user settled in quickly.",
  "The user is located in the UTC+1 time zone.",
  "The user is known as a punctual person.",
  "The user goes by train to work.",
  "The user would like to be called back tomorrow.",
  "The user asked to be called at 5 pm.",
  "The user's language teacher is Ana.",
  "The user's city council meets on Mondays.",
  "The user's home is full of plants.",
  "The user's address is on file.",
  "The user teaches English pronouns to children.",
  "Der Nutzer bevorzugt italienische Küche.",
  "Der Nutzer lebt vegan.",
  "Der Name des Hundes des Nutzers ist Rex.",
  "Der Nutzer will zurückgerufen werden.",
  "L'utilisateur préfère la cuisine italienne.",
  "L'utilisateur vit à crédit.",
  "L'utilisateur vit en couple.",
  "El usuario prefiere la comida portuguesa.",
  "El usuario vive en pareja.",
  "O usuário prefere comida japonesa.",
  "O usuário vive em paz.",
  "L'utente preferisce il cinema francese.",
  "De gebruiker leeft in stilte.",
  "De gebruiker verkiest Frans brood.",
  "Пользователь предпочитает русскую кухню.",
  "用户喜欢法国电影。",
  "ユーザーはフランス映画が好きだ。",
  "사용자는 프랑스 영화를 좋아한다.",
  "The user writes Arabic calligraphy.",
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

describe("a language", () => {
  const names = fc.constantFrom("German", "French", "Portuguese", "Japanese", "Greek", "Turkish", "Welsh");
  const wish = fc.constantFrom("prefers", "likes", "wants", "writes about", "understands", "would like");
  const thing = fc.constantFrom("food", "cinema", "shepherds", "literature", "wine", "cars", "breakfast tea");
  const use = fc.constantFrom("prefers", "speaks", "speaks fluent", "wants answers in", "likes to chat in");
  const rest = fc.constantFrom(
    "",
    " and English",
    ", not English",
    " with her family",
    " at work",
    " fluently",
  );

  it("is what a thing is like where the thing follows", () => {
    fc.assert(
      fc.property(wish, names, names, thing, fc.boolean(), (verb, one, other, what, both) => {
        const likeness = both ? `${one} or ${other}` : one;
        expect(personalStatement(`The user ${verb} ${likeness} ${what}.`)).toBeNull();
      }),
    );
  });

  it("is the user's where none does", () => {
    fc.assert(
      fc.property(use, names, rest, (verb, name, more) => {
        expect(personalStatement(`The user ${verb} ${name}${more}.`)).toBe("language");
      }),
    );
  });

  it("and what is no sentence at all takes no time", () => {
    const parts = ["in a ", "english and ", "has been ", "el ", "a b ", "the user lives ", "home is "];
    for (const part of parts) {
      const started = performance.now();
      for (const who of ["the user lives ", "el usuario prefiere ", "der nutzer wohnt ", "the user calls "]) {
        personalStatement(who + part.repeat(1_000));
      }
      expect(performance.now() - started).toBeLessThan(500);
    }
  });
});

describe("a key", () => {
  it.each([
    ["name_to_use", "preferred_name"],
    ["cidade", "city"],
    ["言語", "language"],
    ["pronombres", "pronouns"],
    ["constructor", null],
    ["home_town", null],
    ["dog_name", null],
  ])("%s means %s", (key, field) => {
    expect(personalKey(key)).toBe(field);
  });
});
